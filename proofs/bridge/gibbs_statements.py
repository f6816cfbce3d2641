# ruff: noqa: E501 (lines of Coq text)
"""What the PAC-Bayes theorems claim (Theorem E and its forms), as Coq statements with a hole for the bound."""

from __future__ import annotations

from proofs.bridge.statement import Statement

_LOSSES = "distribution P -> (forall h z, 0 <= F h z <= 1) -> (0 < m)%nat ->"
_FAMILY = """(forall n, measurable P F m (prior n)) -> (forall n, 0 < w n) -> (forall l, NoDup l -> sum_list l w <= 1) ->
  0 < delta < 1 ->"""
_LEARNED = """(forall xs n, measurable P F m (prior xs n)) -> (forall xs n, 0 < w xs n) ->
  (forall xs l, NoDup l -> sum_list l (w xs) <= 1) -> 0 < delta < 1 ->"""

GIBBS_STATEMENTS: tuple[Statement, ...] = (
    Statement(
        "E",
        "gibbs_grid_bound",
        f"""forall (Z H N : Type) (P : list (R * Z)) (F : H -> Z -> R) (m : nat) (prior : N -> law H) (w : N -> R) (delta : R),
  {_LOSSES}
  {_FAMILY}
  Pr P m (fun zs => exists n rho, posterior F (prior n) rho /\\ gibbs_risk P F (prior n) rho > {{bound}}) <= delta""",
        "intros Z H N P F m prior w delta HP HF Hm Hmu Hw Hs Hd.\n"
        "  eapply Rle_trans; [| exact (gibbs_grid_bound P F HP HF m Hm prior w _ delta Hmu Hw Hs (prior_moment_le m Hm) Hd)].\n"
        "  apply Pr_mono; [exact (proj1 HP) |]. intros zs _ [n [rho [HQ Hg]]]. exists n, rho. split; [exact HQ |]. same_entropy Hg.",
        {
            "m": "(INR m)",
            "delta": "delta",
            "kl_divergence": "(relative_entropy (prior n) rho)",
            "grid_cost": "(ln (1 / w n))",
            "emp_risk_gibbs": "(gibbs_empirical F (prior n) rho zs)",
        },
    ),
    Statement(
        "E-rank",
        "rank_gibbs_bound",
        f"""forall (Z H N : Type) (P : list (R * Z)) (F : H -> Z -> R) (m : nat) (prior : N -> law H) (w : N -> R)
    (delta tau r : R) (layers : nat),
  {_LOSSES}
  {_FAMILY}
  0 < tau -> 0 <= r ->
  Pr P m (fun zs => exists n rho ms, posterior F (prior n) rho /\\ gaussian_posterior (prior n) rho ms /\\ length ms = layers /\\
    (forall a, In a ms -> stable_rank_at_most r (update a) /\\ tau * spectral_norm (update a) <= level a) /\\
    gibbs_risk P F (prior n) rho > {{bound}}) <= delta""",
        "intros Z H N P F m prior w delta tau r layers HP HF Hm Hmu Hw Hs Hd Ht Hr.\n"
        "  eapply Rle_trans; [| exact (rank_gibbs_bound P F m prior w delta tau r layers HP HF Hm Hmu Hw Hs Hd Ht Hr)].\n"
        "  apply Pr_mono; [exact (proj1 HP) |]. intros zs _ [n [rho [ms [HQ [HG [Hl [Hms Hg]]]]]]]. exists n, rho, ms.\n"
        "  repeat (split; [assumption |]). unfold moment_bound. same_root Hg.",
        {
            "m": "(INR m)",
            "delta": "delta",
            "layers": "(INR layers)",
            "update_rank": "r",
            "noise_relative": "tau",
            "grid_cost": "(ln (1 / w n))",
            "emp_risk_gibbs": "(gibbs_empirical F (prior n) rho zs)",
        },
    ),
    Statement(
        "E-split",
        "gibbs_split_bound",
        f"""forall (Z H N : Type) (P : list (R * Z)) (F : H -> Z -> R) (k m : nat) (prior : list Z -> N -> law H)
    (w : list Z -> N -> R) (delta : R),
  {_LOSSES}
  {_LEARNED}
  Pr P (k + m) (fun zs => exists n rho, posterior F (prior (firstn k zs) n) rho /\\
    gibbs_risk P F (prior (firstn k zs) n) rho > {{bound}}) <= delta""",
        "intros Z H N P F k m prior w delta HP HF Hm Hmu Hw Hs Hd.\n"
        "  eapply Rle_trans; [| exact (gibbs_split_bound P F HP HF k m Hm prior w delta Hmu Hw Hs Hd)].\n"
        "  apply Pr_mono; [exact (proj1 HP) |]. intros zs _ [n [rho [HQ Hg]]]. cbv zeta. exists n, rho. split; [exact HQ |]. "
        "unfold moment_bound. same_entropy Hg.",
        {
            "m": "(INR m)",
            "delta": "delta",
            "kl_divergence": "(relative_entropy (prior (firstn k zs) n) rho)",
            "grid_cost": "(ln (1 / w (firstn k zs) n))",
            "emp_risk_gibbs": "(gibbs_empirical F (prior (firstn k zs) n) rho (skipn k zs))",
        },
    ),
    Statement(
        "E-single",
        "drawn_model_bound",
        f"""forall (Z H N : Type) (P : list (R * Z)) (F : H -> Z -> R) (m : nat) (prior : N -> law H) (w : N -> R) (delta : R)
    (chosen : list Z -> N) (rho : list Z -> H -> R),
  {_LOSSES}
  {_FAMILY}
  (forall zs, length zs = m -> density (prior (chosen zs)) (rho zs)) ->
  (forall zs, length zs = m ->
    integrable (prior (chosen zs)) (fun h => rho zs h * indicator (risk P F h > {{bound}}))) ->
  Em P m (fun zs => posterior_mean (prior (chosen zs)) (rho zs) (fun h => indicator (risk P F h > {{bound}}))) <= delta""",
        "intros Z H N P F m prior w delta chosen rho HP HF Hm Hmu Hw Hs Hd Hrho Hi.\n"
        "  assert (E : (fun zs h => indicator (risk P F h > {bound})) = (fun zs h => indicator (drawn_bad P F m w (2 + sqrt (PI * INR m / 2)) delta chosen rho zs h)))\n"
        "    by (apply FunctionalExtensionality.functional_extensionality; intros zs; apply FunctionalExtensionality.functional_extensionality; "
        "intros h; unfold drawn_bad; same_price).\n"
        "  eapply Rle_trans; [| apply (drawn_model_bound P F HP HF m Hm prior w (2 + sqrt (PI * INR m / 2)) delta Hmu Hw Hs (prior_moment_le m Hm) Hd chosen rho Hrho)].\n"
        "  - right. apply Em_ext. intros zs _. exact (f_equal (fun u => posterior_mean (prior (chosen zs)) (rho zs) (u zs)) E).\n"
        "  - intros zs Hzs. specialize (Hi zs Hzs).\n"
        "    exact (eq_ind _ (fun u => integrable (prior (chosen zs)) (fun h => rho zs h * u zs h)) Hi _ E).",
        {
            "m": "(INR m)",
            "delta": "delta",
            "log_ratio": "(ln (rho zs h))",
            "grid_cost": "(ln (1 / w (chosen zs)))",
            "emp_risk": "(empirical_risk F zs h)",
        },
    ),
    Statement(
        "E-monte-carlo",
        "gibbs_monte_carlo_bound",
        f"""forall (Z H N Om : Type) (P : list (R * Z)) (F : H -> Z -> R) (k m : nat) (prior : list Z -> N -> law H)
    (w : list Z -> N -> R) (delta : R) (chosen : list Z -> N) (rho : list Z -> H -> R)
    (draw_law : list Z -> law Om) (draws : list Z -> list (Om -> R)) (n_draws : nat) (delta_draws : R),
  {_LOSSES}
  {_LEARNED}
  (forall zs, posterior F (prior (firstn k zs) (chosen zs)) (rho zs)) ->
  (0 < n_draws)%nat -> 0 < delta_draws < 1 -> (forall zs, length (draws zs) = n_draws) ->
  (forall zs, independent_draws (draw_law zs) (draws zs)) ->
  (forall zs, mean_of_means (draw_law zs) (draws zs)
    = gibbs_empirical F (prior (firstn k zs) (chosen zs)) (rho zs) (skipn k zs)) ->
  (forall zs, integrable (draw_law zs) (fun omega => indicator
    (gibbs_empirical F (prior (firstn k zs) (chosen zs)) (rho zs) (skipn k zs)
     > kl_inverse (average (draws zs) omega) (ln (1 / delta_draws) / INR n_draws)))) ->
  (forall zs, integrable (draw_law zs) (fun omega => indicator
    (gibbs_risk P F (prior (firstn k zs) (chosen zs)) (rho zs) > {{bound}}))) ->
  Em P (k + m) (fun zs => mean (draw_law zs) (fun omega => indicator
    (gibbs_risk P F (prior (firstn k zs) (chosen zs)) (rho zs) > {{bound}}))) <= delta + delta_draws""",
        "intros Z H N Om P F k m prior w delta chosen rho draw_law draws n_draws delta_draws HP HF Hm Hmu Hw Hs Hd HQ Hn Hdd Hl Hi Hmean He Hx.\n"
        "  assert (E : (fun zs omega => indicator (monte_carlo_exceeded P F k m prior w delta chosen rho draws n_draws delta_draws zs omega))\n"
        "    = (fun zs omega => indicator (gibbs_risk P F (prior (firstn k zs) (chosen zs)) (rho zs) > {bound})))\n"
        "    by (apply FunctionalExtensionality.functional_extensionality; intros zs; apply FunctionalExtensionality.functional_extensionality; "
        "intros omega; unfold monte_carlo_exceeded, moment_bound; same_price).\n"
        "  eapply Rle_trans; [| apply (gibbs_monte_carlo_bound P F HP HF k m Hm prior w delta Hmu Hw Hs Hd chosen rho draw_law draws n_draws delta_draws HQ Hn Hdd Hl Hi Hmean He)].\n"
        "  - right. apply Em_ext. intros zs _. exact (f_equal (fun u => mean (draw_law zs) (u zs)) (eq_sym E)).\n"
        "  - intros zs. specialize (Hx zs). exact (eq_ind _ (fun u => integrable (draw_law zs) (u zs)) Hx _ (eq_sym E)).",
        {
            "m": "(INR m)",
            "delta": "delta",
            "delta_draws": "delta_draws",
            "n_draws": "(INR n_draws)",
            "kl_divergence": "(relative_entropy (prior (firstn k zs) (chosen zs)) (rho zs))",
            "grid_cost": "(ln (1 / w (firstn k zs) (chosen zs)))",
            "emp_risk_draws": "(average (draws zs) omega)",
        },
    ),
)
