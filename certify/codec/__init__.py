"""The prefix code of the Occam theorem (D): quantised low-rank matrices, exactly entropy-coded."""
