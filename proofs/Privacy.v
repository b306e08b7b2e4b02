(** Privacy for a directed distance: the definition, and the operations that DESIGN calls theorems. *)

From Coq Require Import Reals Lra Lia List Classical.
From Leeward Require Import Sums Laws Distance.
Import ListNotations.
Open Scope R_scope.

(** [p] is at most e^c times [q]; ∞ promises nothing. *)
Definition at_most_factor (p : R) (c : cost) (q : R) : Prop :=
  match c with Fin r => p <= exp r * q | Inf => True end.

(** A mechanism gives every secret a law on the outputs. *)
Definition mechanism (X A : Type) := X -> law A.

(** K is d-private iff Pr[K(x) ∈ Z] <= e^{d(x -> x')} · Pr[K(x') ∈ Z] for all secrets and all sets of outputs. *)
Definition private {X A} (d : X -> X -> cost) (K : mechanism X A) : Prop :=
  forall x x' (Z : A -> Prop), at_most_factor (Pr (K x) Z) (d x x') (Pr (K x') Z).

Lemma factor_decay p c q : at_most_factor p c q <-> decay c * p <= q \/ (c = Inf /\ q < 0).
Proof.
  destruct c as [r|]; simpl; [|rewrite Rmult_0_l; destruct (Rle_or_lt 0 q); tauto].
  pose proof (exp_pos r). rewrite exp_Ropp. split.
  - intros H1. left. apply Rmult_le_reg_l with (exp r); trivial. rewrite <- Rmult_assoc, Rinv_r by lra. lra.
  - intros [H1|[E _]]; [|discriminate]. apply Rmult_le_compat_l with (r := exp r) in H1; [|lra].
    rewrite <- Rmult_assoc, Rinv_r in H1 by lra. lra.
Qed.

(** The same without a quotient and without a case for ∞. *)
Lemma factor_decay_nonneg p c q : 0 <= q -> (at_most_factor p c q <-> decay c * p <= q).
Proof. intros H. rewrite factor_decay. split; [intros [?|[_ ?]]; lra | tauto]. Qed.

Lemma factor_le p c c' q : 0 <= q -> (c <= c')%cost -> at_most_factor p c q -> at_most_factor p c' q.
Proof.
  intros Hq Hc. destruct c as [r|], c' as [r'|]; simpl in *; trivial; try tauto.
  intros H. pose proof (exp_le_mono _ _ Hc). apply Rle_trans with (exp r * q); trivial. apply Rmult_le_compat_r; trivial.
Qed.

Section Points.
Context {X A : Type}.
Implicit Types (d : X -> X -> cost) (K : mechanism X A).

(** ** It is enough to look at single outputs, and necessary *)
Theorem private_pointwise d K : private d K <-> forall x x' z, at_most_factor (K x z) (d x x') (K x' z).
Proof.
  split; intros H x x' z.
  - specialize (H x x' (fun a => a = z)). rewrite !(Pr_one _ _ z) in H by tauto. trivial.
  - specialize (H x x'). destruct (d x x') as [r|]; simpl in *; trivial.
    apply Pr_pointwise; trivial. left. apply exp_pos.
Qed.

Lemma private_decay d K : private d K <-> forall x x' z, decay (d x x') * K x z <= K x' z.
Proof.
  rewrite private_pointwise. split; intros H x x' z; specialize (H x x' z);
    apply factor_decay_nonneg in H || apply factor_decay_nonneg; trivial; apply pmf_nonneg.
Qed.

End Points.

Section Rules.
Context {X A : Type}.
Implicit Types (d : X -> X -> cost) (K : mechanism X A).

(** ** Monotone in the distance (d-privacy, Proposition 1) *)
Theorem private_monotone d d' K : (forall x x', (d x x' <= d' x x')%cost) -> private d K -> private d' K.
Proof. intros H Hp x x' Z. eapply factor_le; [apply Pr_nonneg | apply H | apply Hp]. Qed.

(** ** Post-processing: by a function, and by a function that flips coins of its own *)
Theorem post_processing {B} d K (g : A -> B) : private d K -> private d (fun x => map_law g (K x)).
Proof. intros H x x' Z. rewrite !Pr_map. apply H. Qed.

Theorem post_processing_random {B} d K (g : A -> law B) : private d K -> private d (fun x => bind_law (K x) g).
Proof.
  intros H x x' Z. specialize (H x x'). destruct (d x x') as [r|]; simpl in *; trivial.
  apply (sum_mono everything everything (fun a => K x a * Pr (g a) Z) (fun a => exp r * (K x' a * Pr (g a) Z))); trivial.
  - intros a _. rewrite <- Rmult_assoc. apply Rmult_le_compat_r; [apply Pr_nonneg|].
    specialize (H (fun b => b = a)). rewrite !(Pr_one _ _ a) in H by tauto. trivial.
  - apply Pr_bind.
  - apply sum_scal; [left; apply exp_pos | apply Pr_bind].
Qed.

(** ** Sequential composition is the pointwise sum (ADP, Theorem VIII.6), also when the second mechanism is chosen after
    seeing the first answer, as long as each of those that may be chosen keeps its distance *)
Theorem sequential_composition {B} d d' K (K' : A -> mechanism X B) :
  private d K -> (forall a, private d' (K' a)) ->
  private (distance_plus d d') (fun x => pair_law (K x) (fun a => K' a x)).
Proof.
  intros H H'. apply (proj2 (private_decay _ _)). intros x x' [a b]. simpl. unfold distance_plus. rewrite decay_plus.
  pose proof (proj1 (private_decay _ _) H x x' a) as Ha.
  pose proof (proj1 (private_decay _ _) (H' a) x x' b) as Hb.
  replace (_ * (_ * _)) with ((decay (d x x') * K x a) * (decay (d' x x') * K' a x b)) by (simpl; ring).
  apply Rmult_le_compat; trivial; apply Rmult_le_pos; trivial; try apply decay_nonneg; apply pmf_nonneg.
Qed.

(** ** Steps and paths: a promise for steps is a promise for their shortest paths, and the other way round *)
Lemma private_path c K x x' e Z : private c K -> path c x x' e -> at_most_factor (Pr (K x) Z) e (Pr (K x') Z).
Proof.
  intros H Hp. apply factor_decay_nonneg; [apply Pr_nonneg|]. induction Hp as [x|x y z e Hp IH].
  - rewrite decay_0. lra.
  - rewrite decay_plus. apply Rle_trans with (decay e * Pr (K y) Z); trivial.
    rewrite (Rmult_comm (decay _)), Rmult_assoc. apply Rmult_le_compat_l; [apply decay_nonneg|].
    apply factor_decay_nonneg; [apply Pr_nonneg | apply H].
Qed.

Theorem private_shortest c D K : shortest c D -> (private c K <-> private D K).
Proof.
  intros HD. split; intros H; [|apply (private_monotone D); trivial; apply shortest_le_step; trivial].
  intros x x' Z. destruct (D x x') as [r|] eqn:E; simpl; trivial.
  apply Rnot_lt_le. intros Hlt.
  pose proof (Pr_nonneg (K x') Z) as H0. pose proof (exp_pos r) as Hr.
  assert (0 < Pr (K x') Z) as Hq.
  { destruct H0 as [|H0]; trivial. rewrite <- H0, Rmult_0_r in Hlt.
    destruct (shortest_near c D x x' r HD E (r + 1)) as (t & Hp & _); [lra|].
    pose proof (private_path c K x x' _ Z H Hp) as Hc. simpl in Hc. rewrite <- H0, Rmult_0_r in Hc. lra. }
  set (m := Pr (K x) Z / Pr (K x') Z).
  assert (Hm : exp r < m).
  { unfold m. apply Rmult_lt_reg_r with (Pr (K x') Z); trivial. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
  assert (Hm' : Pr (K x) Z = m * Pr (K x') Z) by (unfold m; field; lra).
  destruct (shortest_near c D x x' r HD E (ln m)) as (t & Hp & Ht).
  { rewrite <- (ln_exp r). apply ln_increasing; trivial. }
  pose proof (private_path c K x x' _ Z H Hp) as Hc. simpl in Hc.
  apply exp_increasing in Ht. rewrite exp_ln in Ht by lra.
  assert (exp t * Pr (K x') Z < m * Pr (K x') Z) by (apply Rmult_lt_compat_r; trivial). lra.
Qed.

(** ** One output that keeps two promises keeps the shortest-path closure of the smaller of both, and no more *)
Theorem both_hold d d' D K : shortest (distance_min d d') D -> (private d K /\ private d' K <-> private D K).
Proof.
  intros HD. rewrite <- (private_shortest _ _ K HD). split.
  - intros [H H'] x x' Z. specialize (H x x' Z). specialize (H' x x' Z). unfold distance_min.
    destruct (d x x') as [r|], (d' x x') as [r'|]; simpl in *; trivial.
    destruct (Rle_or_lt r r'); [rewrite Rmin_left | rewrite Rmin_right]; trivial; lra.
  - intros H. split; apply (private_monotone (distance_min d d')); trivial; intros x x';
      apply (cost_min_le (d x x') (d' x x')), cost_le_refl.
Qed.

(** ** Groups: along a chain of [n] steps, each of which costs ε, probabilities change by at most e^{nε} *)
Inductive chain (step : X -> X -> Prop) : nat -> X -> X -> Prop :=
  | chain_here x : chain step 0 x x
  | chain_step n x y z : step x y -> chain step n y z -> chain step (S n) x z.

Theorem group_privacy (step : X -> X -> Prop) eps K :
  (forall x x' Z, step x x' -> Pr (K x) Z <= exp eps * Pr (K x') Z) ->
  forall n x x' Z, chain step n x x' -> Pr (K x) Z <= exp (INR n * eps) * Pr (K x') Z.
Proof.
  intros H n x x' Z Hc. induction Hc as [x|n x y z Hs Hc IH]; [simpl; rewrite Rmult_0_l, exp_0; lra|].
  rewrite S_INR, Rmult_plus_distr_r, Rmult_1_l, exp_plus. apply Rle_trans with (exp eps * Pr (K y) Z); auto.
  rewrite (Rmult_comm (exp (_ * _))), Rmult_assoc. apply Rmult_le_compat_l; trivial. left. apply exp_pos.
Qed.

(** With a slack δ a step, the slack grows: δ · (1 + e^ε + … + e^{(n-1)ε}). *)
Theorem group_privacy_delta (step : X -> X -> Prop) eps delta K : 0 <= delta ->
  (forall x x' Z, step x x' -> Pr (K x) Z <= exp eps * Pr (K x') Z + delta) ->
  forall n x x' Z, chain step n x x' ->
    Pr (K x) Z <= exp (INR n * eps) * Pr (K x') Z + delta * total (fun j => exp (INR j * eps)) (seq 0 n).
Proof.
  intros Hd H n x x' Z Hc. induction Hc as [x|n x y z Hs Hc IH]; [simpl; rewrite Rmult_0_l, exp_0; lra|].
  apply Rle_trans with (exp eps * Pr (K y) Z + delta); auto.
  assert (E : total (fun j => exp (INR j * eps)) (seq 0 (S n)) = 1 + exp eps * total (fun j => exp (INR j * eps)) (seq 0 n)).
  { clear. simpl. rewrite Rmult_0_l, exp_0. f_equal. rewrite <- seq_shift, <- total_scal.
    generalize (seq 0 n). intros l. induction l as [|j l IH]; cbn [total map]; trivial. rewrite IH. f_equal.
    rewrite S_INR, <- exp_plus. f_equal. lra. }
  rewrite E, S_INR, Rmult_plus_distr_r, Rmult_1_l, exp_plus. pose proof (exp_pos eps).
  apply Rmult_le_compat_l with (r := exp eps) in IH; lra.
Qed.

End Rules.

(** ** A query that never lengthens the distance carries a private mechanism back to the secrets (d-privacy, Fact 5) *)
Theorem pull_back {X Y A} (dX : X -> X -> cost) (dY : Y -> Y -> cost) (f : X -> Y) (K : mechanism Y A) :
  (forall x x', (dY (f x) (f x') <= dX x x')%cost) -> private dY K -> private dX (fun x => K (f x)).
Proof. intros Hf H x x' Z. eapply factor_le; [apply Pr_nonneg | apply Hf | apply H]. Qed.

(** ** Parallel composition: two answers that each pay for a part of the distance of their own cost the larger factor. Parts are such
    where no step moves anybody from one to the other, so that the distance of the whole is the sum over the parts. *)
Theorem parallel_composition {X A B} (d d' : X -> X -> cost) (c c' : R) (K : mechanism X A) (K' : A -> mechanism X B) :
  (forall x x', (0 <= d x x')%cost) -> (forall x x', (0 <= d' x x')%cost) ->
  private (fun x x' => scale c (d x x')) K -> (forall a, private (fun x x' => scale c' (d' x x')) (K' a)) ->
  private (fun x x' => scale (Rmax c c') (distance_plus d d' x x')) (fun x => pair_law (K x) (fun a => K' a x)).
Proof.
  intros Hd Hd' H H'. eapply private_monotone; [|apply (sequential_composition _ _ K K' H H')].
  intros x x'. specialize (Hd x x'). specialize (Hd' x x'). unfold distance_plus.
  destruct (d x x') as [r|], (d' x x') as [s|]; simpl in *; trivial. rewrite Rmult_plus_distr_l.
  apply Rplus_le_compat; apply Rmult_le_compat_r; trivial; [apply Rmax_l | apply Rmax_r].
Qed.

(** ** A promise with slack, read in the other direction: (ε, δ) from x to x' is (-ε, 1 - e^-ε + e^-ε·δ) from x' to x *)
Theorem other_direction {A} eps delta (p p' : law A) :
  (forall Z, Pr p Z <= exp eps * Pr p' Z + delta) <->
  (forall Z, Pr p' Z <= exp (- eps) * Pr p Z + (1 - exp (- eps) + exp (- eps) * delta)).
Proof.
  pose proof (exp_pos eps). pose proof (exp_pos (- eps)).
  assert (E : exp (- eps) * exp eps = 1) by (rewrite <- exp_plus, Rplus_opp_l; apply exp_0).
  split; intros H1 Z; specialize (H1 (fun a => ~ Z a)); rewrite !Pr_not in H1.
  - apply Rmult_le_compat_l with (r := exp (- eps)) in H1; [|lra].
    replace (exp (- eps) * (exp eps * (1 - Pr p' Z) + delta)) with
      (exp (- eps) * exp eps * (1 - Pr p' Z) + exp (- eps) * delta) in H1 by ring. rewrite E in H1. lra.
  - apply Rmult_le_compat_l with (r := exp eps) in H1; [|lra].
    replace (exp eps * (exp (- eps) * (1 - Pr p Z) + (1 - exp (- eps) + exp (- eps) * delta))) with
      (exp (- eps) * exp eps * (1 - Pr p Z) + exp eps - exp (- eps) * exp eps + exp (- eps) * exp eps * delta) in H1 by ring.
    rewrite E in H1. lra.
Qed.
