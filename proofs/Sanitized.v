(** Paying only when it is not safe (SALap: ADP, Algorithm 1), over any number of questions, each chosen after seeing all
    earlier answers. *)

From Coq Require Import Reals Lra Lia List ZArith Classical.
From Leeward Require Import Sums Laws Distance Privacy Geometric.
Import ListNotations.
Open Scope R_scope.

(** What is said of one count: *safe*, or the noisy count above the threshold, or only that it was not safe. *)
Inductive said := Safe | Above (z : Z) | Withheld.

(** A question: a count of the secret, and a public threshold. *)
Record question (X : Type) := Question { count : X -> Z; limit : Z }.
Arguments count {X}.
Arguments limit {X}.
Arguments Question {X}.

(** Windows, counts and thresholds may depend on all past answers, and on nothing else. *)
Definition strategy (X : Type) := list said -> question X.

Section Runs.
Context {X : Type} (eps : R) (Heps : 0 < eps) (ask : strategy X).

(** Noise that never falls below the truth, of rate ε, is Line(∞, ε)-private. *)
Definition noisy : mechanism Z Z := geometric Inf (Fin eps) I Heps.

(** [left]: how many noisy counts may still be published. *)
Definition say (left : nat) (t z : Z) : said :=
  if (z <=? t)%Z then Safe else match left with O => Withheld | S _ => Above z end.

Definition answer (left : nat) (q : question X) (x : X) : law said := map_law (say left (limit q)) (noisy (count q x)).

Definition after (left : nat) (a : said) : nat := match a with Safe => left | _ => pred left end.

(** At most [n] questions; all asking stops after the [left]-th answer that is not *safe*. *)
Fixpoint stopping (n left : nat) (past : list said) (x : X) : law (list said) :=
  match n, left with
  | S n, S _ => map_law (fun p => fst p :: snd p)
      (pair_law (answer left (ask past) x) (fun a => stopping n (after left a) (past ++ [a]) x))
  | _, _ => certain []
  end.

(** The broken variant: after the [left]-th it withholds the counts, and goes on asking. *)
Fixpoint going_on (n left : nat) (past : list said) (x : X) : law (list said) :=
  match n with
  | S n => map_law (fun p => fst p :: snd p)
      (pair_law (answer left (ask past) x) (fun a => going_on n (after left a) (past ++ [a]) x))
  | O => certain []
  end.

Lemma cons_at (p : law said) (k : said -> law (list said)) a tau :
  map_law (fun p => fst p :: snd p) (pair_law p k) (a :: tau) = p a * k a tau.
Proof.
  change (a :: tau) with ((fun p : said * list said => fst p :: snd p) (a, tau)). rewrite map_inj; [reflexivity|].
  intros [b s] E. simpl in E. congruence.
Qed.

Lemma cons_not_nil (p : law said) (k : said -> law (list said)) : map_law (fun p => fst p :: snd p) (pair_law p k) [] = 0.
Proof. simpl. apply Pr_none. intros x E. discriminate. Qed.

(** *** One answer *)

Lemma answer_safe left q x : answer left q x Safe = Pr (noisy (count q x)) (fun z => (z <= limit q)%Z).
Proof.
  unfold answer. cbn [map_law pmf]. apply Pr_ext; trivial. intros z. unfold say. destruct (Z.leb_spec z (limit q)); [tauto|].
  split; [|lia]. destruct left; discriminate.
Qed.

Lemma answer_above left q x z : answer (S left) q x (Above z) = if (z <=? limit q)%Z then 0 else noisy (count q x) z.
Proof.
  unfold answer. cbn [map_law pmf]. unfold say. destruct (Z.leb_spec z (limit q)) as [H|H].
  - apply Pr_none. intros z' E. destruct (Z.leb_spec z' (limit q)); [discriminate|]. injection E as ->. lia.
  - apply Pr_one. intros z'. destruct (Z.leb_spec z' (limit q)); split; try discriminate; try congruence.
    intros ->. lia.
Qed.

Lemma answer_withheld q x : answer 0 q x Withheld = Pr (noisy (count q x)) (fun z => (limit q < z)%Z).
Proof.
  unfold answer. cbn [map_law pmf]. apply Pr_ext; trivial. intros z. unfold say. destruct (Z.leb_spec z (limit q)); split; try discriminate; try lia.
  reflexivity.
Qed.

(** Along a step no count rises, and none falls by more than 1. *)
Definition falls_by_one (x x' : X) : Prop := forall past,
  (count (ask past) x' <= count (ask past) x <= count (ask past) x' + 1)%Z.

Lemma noisy_step x x' past z : falls_by_one x x' ->
  decay (Fin eps) * noisy (count (ask past) x) z <= noisy (count (ask past) x') z.
Proof.
  intros H. pose proof (proj1 (private_decay _ _) (geometric_private Inf (Fin eps) I Heps)
    (count (ask past) x) (count (ask past) x') z) as Hp.
  eapply Rle_trans; [|exact Hp]. apply Rmult_le_compat_r; [apply pmf_nonneg|]. apply decay_le.
  specialize (H past). unfold line, up. replace (Z.to_nat (count (ask past) x' - count (ask past) x)) with O by lia.
  cbn [times]. rewrite cost_0_plus. eapply cost_le_trans; [apply (times_le _ 1)|].
  - simpl. lra.
  - lia.
  - cbn [times]. rewrite cost_plus_0. apply cost_le_refl.
Qed.

(** *Safe* costs nothing: its probability only grows along a step. *)
Lemma safe_is_free left x x' past : falls_by_one x x' ->
  answer left (ask past) x Safe <= answer left (ask past) x' Safe.
Proof.
  intros H. specialize (H past). rewrite !answer_safe. unfold noisy. rewrite !Pr_geometric. apply Pr_mono. intros k. lia.
Qed.

(** Anything else costs ε. *)
Lemma answer_step left x x' past a : falls_by_one x x' ->
  decay (Fin eps) * answer left (ask past) x a <= answer left (ask past) x' a.
Proof.
  intros H. unfold answer. cbn [map_law pmf]. rewrite <- (Rmult_1_l (Pr (noisy (count (ask past) x')) _)).
  apply factor_decay_nonneg; [apply Rmult_le_pos; [lra | apply Pr_nonneg]|]. rewrite Rmult_1_l.
  change (at_most_factor (Pr (noisy (count (ask past) x)) (fun b => say left (limit (ask past)) b = a)) (Fin eps)
         (Pr (noisy (count (ask past) x')) (fun b => say left (limit (ask past)) b = a))).
  simpl. apply Pr_pointwise; [left; apply exp_pos|]. intros z.
  pose proof (noisy_step x x' past z H) as Hs. apply (factor_decay_nonneg _ (Fin eps)) in Hs; [|apply pmf_nonneg].
  exact Hs.
Qed.

(** *** The whole run costs c·ε *)

Lemma stopping_step x x' : falls_by_one x x' -> forall n left past tau,
  decay (times left (Fin eps)) * stopping n left past x tau <= stopping n left past x' tau.
Proof.
  intros H. induction n as [|n IH]; intros left past tau.
  { assert (decay (times left (Fin eps)) <= 1) by (apply decay_le_1, times_nonneg; simpl; lra).
    pose proof (pmf_nonneg (stopping 0 left past x) tau). pose proof (decay_nonneg (times left (Fin eps))).
    replace (stopping 0 left past x') with (stopping 0 left past x) by (destruct left; reflexivity).
    rewrite <- (Rmult_1_l (stopping 0 left past x tau)) at 2. apply Rmult_le_compat_r; lra. }
  destruct left as [|left]; [cbn [times]; rewrite decay_0; simpl; lra|].
  destruct tau as [|a tau]; cbn [stopping].
  { rewrite !cons_not_nil. lra. }
  rewrite !cons_at.
  specialize (IH (after (S left) a) (past ++ [a]) tau).
  pose proof (pmf_nonneg (answer (S left) (ask past) x) a). pose proof (pmf_nonneg (answer (S left) (ask past) x') a).
  pose proof (pmf_nonneg (stopping n (after (S left) a) (past ++ [a]) x) tau).
  destruct (classic (a = Safe)) as [->|Ha].
  - pose proof (safe_is_free (S left) x x' past H). simpl after in *.
    rewrite (Rmult_comm (answer _ _ x _)), <- Rmult_assoc, (Rmult_comm _ (answer _ _ x _)).
    apply Rmult_le_compat; trivial. apply Rmult_le_pos; trivial. apply decay_nonneg.
  - assert (E : after (S left) a = left) by (destruct a; simpl; tauto). rewrite E in *.
    pose proof (answer_step (S left) x x' past a H). cbn [times]. rewrite decay_plus.
    replace (_ * _ * (_ * _)) with ((decay (Fin eps) * answer (S left) (ask past) x a) *
      (decay (times left (Fin eps)) * stopping n left (past ++ [a]) x tau)) by (simpl; ring).
    apply Rmult_le_compat; trivial; apply Rmult_le_pos; trivial; apply decay_nonneg.
Qed.

(** However many questions are asked, and however each depends on the answers before it. *)
Theorem sanitized_step x x' n c : falls_by_one x x' -> forall Z,
  Pr (stopping n c [] x) Z <= exp (INR c * eps) * Pr (stopping n c [] x') Z.
Proof.
  intros H Z.
  apply Pr_pointwise; [left; apply exp_pos|]. intros tau.
  pose proof (stopping_step x x' H n c [] tau) as Hs. apply factor_decay_nonneg in Hs; [|apply pmf_nonneg].
  rewrite times_Fin in Hs. exact Hs.
Qed.

(** For a notion whose steps lower every count by at most 1, and for all its paths: c times its distance. *)
Theorem sanitized_private (step_cost : X -> X -> cost) D n c :
  (forall x x', step_cost x x' = Inf \/ (step_cost x x' = Fin eps /\ falls_by_one x x')) -> shortest step_cost D ->
  private (fun x x' => scale (INR c) (D x x')) (stopping n c []).
Proof.
  intros Hstep HD x x' Z. destruct (D x x') as [r|] eqn:E; [|exact I]. cbn [scale].
  assert (Hpath : forall y y' e, path step_cost y y' e -> forall t, e = Fin t ->
            at_most_factor (Pr (stopping n c [] y) Z) (Fin (INR c * t)) (Pr (stopping n c [] y') Z)).
  { intros y y' e Hp. induction Hp as [y|y y1 y2 e Hp IH]; intros t Et.
    - injection Et as <-. simpl. rewrite Rmult_0_r, exp_0. lra.
    - destruct (Hstep y y1) as [Ei|[Ef Hf]]; [rewrite Ei in Et; discriminate|]. rewrite Ef in Et.
      destruct e as [s|]; [|discriminate]. simpl in Et. injection Et as <-. specialize (IH s eq_refl). simpl in *.
      rewrite Rmult_plus_distr_l, exp_plus, Rmult_assoc.
      eapply Rle_trans; [apply (sanitized_step y y1 n c Hf Z)|]. apply Rmult_le_compat_l; trivial. left. apply exp_pos. }
  pose proof (Pr_nonneg (stopping n c [] x') Z) as H0.
  simpl. apply Rnot_lt_le. intros Hlt.
  destruct (Rle_or_lt (INR c) 0) as [Hc|Hc].
  { assert (INR c = 0) as Ec by (pose proof (pos_INR c); lra).
    destruct (shortest_near step_cost D x x' r HD E (r + 1)) as (t & Hp & _); [lra|].
    pose proof (Hpath x x' _ Hp t eq_refl) as Hb. simpl in Hb. rewrite Ec, !Rmult_0_l in *. lra. }
  destruct H0 as [H0|H0].
  - set (m := Pr (stopping n c [] x) Z / Pr (stopping n c [] x') Z).
    assert (Hm : Pr (stopping n c [] x) Z = m * Pr (stopping n c [] x') Z) by (unfold m; field; lra).
    assert (Hm' : exp (INR c * r) < m).
    { apply Rmult_lt_reg_r with (Pr (stopping n c [] x') Z); trivial. rewrite <- Hm. trivial. }
    assert (Hl : INR c * r < ln m) by (rewrite <- (ln_exp (INR c * r)); apply ln_increasing; trivial; apply exp_pos).
    destruct (shortest_near step_cost D x x' r HD E (ln m / INR c)) as (t & Hp & Ht).
    { apply Rmult_lt_reg_l with (INR c); trivial. replace (INR c * (ln m / INR c)) with (ln m) by (field; lra). trivial. }
    pose proof (Hpath x x' _ Hp t eq_refl) as Hb. simpl in Hb.
    assert (exp (INR c * t) < m).
    { rewrite <- (exp_ln m) by (pose proof (exp_pos (INR c * r)); lra). apply exp_increasing.
      apply Rmult_lt_compat_l with (r := INR c) in Ht; trivial. replace (INR c * (ln m / INR c)) with (ln m) in Ht by (field; lra).
      trivial. }
    assert (exp (INR c * t) * Pr (stopping n c [] x') Z < m * Pr (stopping n c [] x') Z) by (apply Rmult_lt_compat_r; trivial).
    lra.
  - rewrite <- H0, Rmult_0_r in Hlt.
    destruct (shortest_near step_cost D x x' r HD E (r + 1)) as (t & Hp & _); [lra|].
    pose proof (Hpath x x' _ Hp t eq_refl) as Hb. simpl in Hb. rewrite <- H0, Rmult_0_r in Hb. lra.
Qed.

(** Going on costs ε for every question. *)
Theorem going_on_step x x' : falls_by_one x x' -> forall n left past tau,
  decay (times n (Fin eps)) * going_on n left past x tau <= going_on n left past x' tau.
Proof.
  intros H. induction n as [|n IH]; intros left past tau; [cbn [times]; rewrite decay_0; simpl; lra|].
  destruct tau as [|a tau]; cbn [going_on].
  { rewrite !cons_not_nil. lra. }
  rewrite !cons_at. specialize (IH (after left a) (past ++ [a]) tau). pose proof (answer_step left x x' past a H).
  cbn [times]. rewrite decay_plus.
  replace (_ * _ * (_ * _)) with ((decay (Fin eps) * answer left (ask past) x a) *
    (decay (times n (Fin eps)) * going_on n (after left a) (past ++ [a]) x tau)) by (simpl; ring).
  apply Rmult_le_compat; trivial; apply Rmult_le_pos; apply decay_nonneg || apply pmf_nonneg.
Qed.

End Runs.

(** ** Witnesses: somebody is there in every window, or nobody is; *safe* means at most 0 *)

Section Witness.
Context (eps : R) (Heps : 0 < eps).

Definition everywhere : strategy bool := fun _ => Question (fun there : bool => if there then 1%Z else 0%Z) 0%Z.

Lemma everywhere_falls : falls_by_one everywhere true false.
Proof. intros past. simpl. lia. Qed.

Let q := decay (Fin eps).

Lemma noisy_at y z : noisy eps Heps y z = (1 - q) * weight q 0 (z - y).
Proof.
  unfold noisy. rewrite geometric_at, <- weight_line. f_equal. unfold normaliser, q. simpl decay. field.
Qed.

Lemma above_one left past : answer eps Heps (S left) (everywhere past) true (Above 1) = 1 - q /\
  answer eps Heps (S left) (everywhere past) false (Above 1) = q * (1 - q).
Proof.
  rewrite !answer_above. change (1 <=? limit (everywhere past))%Z with false. cbv iota. rewrite !noisy_at.
  cbn [everywhere count]. unfold weight. simpl. split; ring.
Qed.

Lemma withheld_odds past : answer eps Heps 0 (everywhere past) true Withheld = 1 /\
  answer eps Heps 0 (everywhere past) false Withheld = q.
Proof.
  rewrite !answer_withheld. unfold noisy. rewrite !Pr_geometric. simpl limit. simpl count. split.
  - rewrite (Pr_ext _ (noise _ _ (rate_decay (Fin eps) Heps) (rate_decay Inf I)) _ (fun k => (0 <= k)%Z));
      [| trivial | intros; lia].
    rewrite noise_at_least by lia. simpl. field.
  - rewrite (Pr_ext _ (noise _ _ (rate_decay (Fin eps) Heps) (rate_decay Inf I)) _ (fun k => (1 <= k)%Z));
      [| trivial | intros; lia].
    rewrite noise_at_least by lia. change (Z.to_nat 1) with 1%nat. unfold q. simpl. field.
Qed.

(** The price c·ε is attained, so it is not too high. *)
Theorem sanitized_tight c n : (c <= n)%nat -> forall past,
  let tau := repeat (Above 1) c in
  0 < stopping eps Heps everywhere n c past true tau /\
  stopping eps Heps everywhere n c past false tau = decay (Fin (INR c * eps)) * stopping eps Heps everywhere n c past true tau.
Proof.
  rewrite <- times_Fin. pose proof (rate_decay (Fin eps) Heps) as Hq. fold q in Hq.
  revert n. induction c as [|c IH]; intros n Hn past; cbn [repeat].
  - replace (stopping eps Heps everywhere n 0 past true) with (certain (@nil said)) by (destruct n; reflexivity).
    replace (stopping eps Heps everywhere n 0 past false) with (certain (@nil said)) by (destruct n; reflexivity).
    rewrite certain_at. cbn [times]. rewrite decay_0. lra.
  - destruct n as [|n]; [lia|]. cbn [stopping]. rewrite !cons_at. destruct (above_one c past) as [-> ->].
    cbn [after pred]. destruct (IH n ltac:(lia) (past ++ [Above 1])) as [I1 I2]. cbv zeta in I1, I2. split.
    + apply Rmult_lt_0_compat; trivial. lra.
    + rewrite I2. cbn [times]. rewrite decay_plus. fold q. ring.
Qed.

(** Withholding and going on: [n] questions cost n·ε, however early the counts are withheld. *)
Theorem going_on_costs_more n c past : 
  let tau := repeat (Above 1) (Nat.min c n) ++ repeat Withheld (n - c) in
  0 < going_on eps Heps everywhere n c past true tau /\
  going_on eps Heps everywhere n c past false tau =
    decay (Fin (INR n * eps)) * going_on eps Heps everywhere n c past true tau.
Proof.
  rewrite <- times_Fin. pose proof (rate_decay (Fin eps) Heps) as Hq. fold q in Hq. cbv zeta.
  revert c past. induction n as [|n IH]; intros c past.
  - rewrite Nat.min_0_r. simpl (_ ++ _). cbn [times going_on]. rewrite decay_0, certain_at. lra.
  - destruct c as [|c]; cbn [Nat.min Nat.sub repeat app going_on]; rewrite !cons_at; cbn [times after pred]; rewrite decay_plus; fold q.
    + destruct (withheld_odds past) as [-> ->]. destruct (IH O (past ++ [Withheld])) as [I1 I2].
      rewrite Nat.min_0_l, Nat.sub_0_r in I1, I2. cbn [repeat app] in I1, I2. rewrite I2. split; [lra | ring].
    + destruct (above_one c past) as [-> ->]. destruct (IH c (past ++ [Above 1])) as [I1 I2]. rewrite I2.
      split; [apply Rmult_lt_0_compat; lra | ring].
Qed.

(** One stop, four questions: four times the price. *)
Corollary going_on_four : exists tau : list said,
  going_on eps Heps everywhere 4 1 [] true tau = exp (4 * eps) * going_on eps Heps everywhere 4 1 [] false tau /\
  going_on eps Heps everywhere 4 1 [] true tau > exp eps * going_on eps Heps everywhere 4 1 [] false tau.
Proof.
  destruct (going_on_costs_more 4 1 []) as [H1 H2]. eexists.
  rewrite H2. replace (INR 4) with 4 by (simpl; ring). simpl decay. split.
  - rewrite <- Rmult_assoc, <- exp_plus, Rplus_opp_r, exp_0. symmetry. apply Rmult_1_l.
  - rewrite <- Rmult_assoc, <- exp_plus. assert (exp (eps + - (4 * eps)) < 1) by (rewrite <- exp_0; apply exp_increasing; lra).
    nra.
Qed.

End Witness.
