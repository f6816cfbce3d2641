"""Models in: exact matrices with their provenance, and attention on real inputs. Start at ``open_model``."""

from certify.adapters.inputs import read_array_inputs as read_array_inputs
from certify.adapters.inputs import read_text_inputs as read_text_inputs
from certify.adapters.model import AttentionCall as AttentionCall
from certify.adapters.model import Factor as Factor
from certify.adapters.model import Inputs as Inputs
from certify.adapters.model import Model as Model
from certify.adapters.model import ModelMatrix as ModelMatrix
from certify.adapters.model import Skipped as Skipped
from certify.adapters.opening import open_model as open_model
from certify.adapters.scores import ScoreForm as ScoreForm
