(** Levels scanned from the highest down, in each group by itself: all scans together cost what one costs, if nobody is in two groups. *)

From Coq Require Import Reals Lra Lia List ZArith Bool Classical.
From Leeward Require Import Sums Laws Distance Privacy Geometric Decisions Sanitized.
Import ListNotations.
Open Scope R_scope.

Section Scans.
Context {X : Type} (eps : R) (Heps : 0 < eps).

(** ** *Safe* is never wrong, wherever in a run it is said *)
Theorem sanitized_never_wrong (ask : strategy X) x n left past tau i : nth_error tau i = Some Safe ->
  (limit (ask (past ++ firstn i tau)) < count (ask (past ++ firstn i tau)) x)%Z -> stopping eps Heps ask n left past x tau = 0.
Proof.
  revert n left past tau. induction i as [|i IH]; intros n left past tau Hs Hc; (destruct tau as [|a tau]; [discriminate|]);
    (destruct n as [|n]; [cbn [stopping]; apply certain_off; discriminate|]);
    (destruct left as [|left]; [cbn [stopping]; apply certain_off; discriminate|]); cbn [stopping]; rewrite cons_at.
  - injection Hs as ->. cbn [firstn] in Hc. rewrite app_nil_r in Hc. rewrite answer_safe. unfold noisy.
    pose proof (upward_never_errs (Fin eps) Heps (limit (ask past)) (count (ask past) x) Hc) as N. unfold at_most in N.
    rewrite N. ring.
  - cbn [nth_error firstn] in *. rewrite (IH n _ (past ++ [a]) tau); [ring | exact Hs|]. rewrite <- app_assoc. exact Hc.
Qed.

(** ** How far a run gets: while at most [most] people are counted and the threshold is [t], *safe* is said [i] times in a row with
    at least the i-th power of the odds of one *)
Theorem sanitized_reaches (ask : strategy X) x t most i n left past : (1 <= left)%nat -> (i <= n)%nat -> (most <= t)%Z ->
  (forall j, (j < i)%nat -> limit (ask (past ++ repeat Safe j)) = t /\ (count (ask (past ++ repeat Safe j)) x <= most)%Z) ->
  (1 - decay (Fin eps) ^ Z.to_nat (t + 1 - most)) ^ i <=
  Pr (stopping eps Heps ask n left past x) (fun tau => firstn i tau = repeat Safe i).
Proof.
  intros Hl Hn Hm. pose proof (rate_decay (Fin eps) Heps) as Hq. set (q := decay (Fin eps)) in *.
  assert (Hp : forall k, 0 <= q ^ k <= 1) by (intros k; split; [apply pow_le; lra | rewrite <- (pow1 k); apply pow_incr; lra]).
  revert n past Hn. induction i as [|i IH]; intros n past Hn H.
  { rewrite (Pr_ext _ (stopping eps Heps ask n left past x) _ everything); [rewrite Pr_everything; simpl; lra | trivial|].
    intros tau. unfold everything. simpl. tauto. }
  destruct n as [|n]; [lia|]. destruct left as [|left]; [lia|]. cbn [stopping]. rewrite Pr_map.
  set (K := fun a => stopping eps Heps ask n (after (S left) a) (past ++ [a]) x).
  pose proof (Pr_pair (answer eps Heps (S left) (ask past) x) K
    (fun p => firstn (S i) (fst p :: snd p) = repeat Safe (S i))) as HS.
  pose proof (sum_ge _ _ _ [Safe] HS (within_one everything Safe I)) as G. cbn [total] in G. rewrite Rplus_0_r in G.
  eapply Rle_trans; [|exact G]. cbn [pow]. apply Rmult_le_compat.
  - specialize (Hp (Z.to_nat (t + 1 - most))). lra.
  - apply pow_le. specialize (Hp (Z.to_nat (t + 1 - most))). lra.
  - rewrite answer_safe. unfold noisy. destruct (H O ltac:(lia)) as [Et Ec]. simpl in Et, Ec. rewrite app_nil_r in Et, Ec.
    pose proof (upward_odds (Fin eps) Heps t (count (ask past) x) ltac:(lia)) as U. unfold at_most in U. rewrite Et, U. fold q.
    replace (Z.to_nat (t + 1 - count (ask past) x)) with
      (Z.to_nat (t + 1 - most) + Z.to_nat (most - count (ask past) x))%nat by lia.
    rewrite pow_add. pose proof (Hp (Z.to_nat (t + 1 - most))). pose proof (Hp (Z.to_nat (most - count (ask past) x))). nra.
  - eapply Rle_trans; [apply (IH n (past ++ [Safe])); [lia|]|].
    + intros j Hj. rewrite <- app_assoc. apply (H (S j)). lia.
    + unfold K. cbn [after fst snd firstn repeat]. apply Pr_mono. intros tau E. f_equal. exact E.
Qed.

(** ** Many runs side by side, each with noise of its own *)

Context (n c : nat).

Fixpoint scans (asks : list (strategy X)) (x : X) : law (list (list said)) :=
  match asks with
  | [] => certain []
  | ask :: asks => map_law (fun p => fst p :: snd p) (both_laws (stopping eps Heps ask n c [] x) (scans asks x))
  end.

Lemma scans_at ask asks x t tau : scans (ask :: asks) x (t :: tau) = stopping eps Heps ask n c [] x t * scans asks x tau.
Proof.
  cbn [scans]. change (t :: tau) with ((fun p : list said * list (list said) => fst p :: snd p) (t, tau)).
  rewrite map_inj; [reflexivity|]. intros [s u] E. simpl in E. congruence.
Qed.

Lemma scans_not_nil ask asks x : scans (ask :: asks) x [] = 0.
Proof. simpl. apply Pr_none. intros p E. discriminate. Qed.

(** A step leaves all counts of a run as they are. *)
Definition unmoved (x x' : X) (ask : strategy X) : Prop := forall past, count (ask past) x' = count (ask past) x.

(** A step lowers counts of one run only, each by at most 1. *)
Definition moves_one (x x' : X) (asks : list (strategy X)) : Prop :=
  exists before ask after, asks = before ++ ask :: after /\ falls_by_one ask x x' /\ Forall (unmoved x x') (before ++ after).

Lemma unmoved_run x x' ask : unmoved x x' ask -> forall m left past tau,
  stopping eps Heps ask m left past x tau = stopping eps Heps ask m left past x' tau.
Proof.
  intros H. induction m as [|m IH]; intros left past tau; [destruct left; reflexivity|].
  destruct left as [|left]; [reflexivity|]. destruct tau as [|a tau]; cbn [stopping]; [rewrite !cons_not_nil; trivial|].
  rewrite !cons_at, IH. f_equal. unfold answer. rewrite H. reflexivity.
Qed.

Lemma unmoved_scans x x' asks : Forall (unmoved x x') asks -> forall tau, scans asks x tau = scans asks x' tau.
Proof.
  induction asks as [|ask asks IH]; intros H tau; [reflexivity|]. inversion_clear H as [|? ? Ha Hs].
  destruct tau as [|t tau]; [rewrite !scans_not_nil; trivial|]. rewrite !scans_at, (IH Hs), (unmoved_run x x' ask Ha). reflexivity.
Qed.

Lemma scans_step x x' asks : moves_one x x' asks -> forall tau,
  decay (times c (Fin eps)) * scans asks x tau <= scans asks x' tau.
Proof.
  intros (before & ask & after & -> & Hf & Hu). induction before as [|b before IH]; intros tau; cbn [app] in *.
  - destruct tau as [|t tau]; [rewrite !scans_not_nil; lra|]. rewrite !scans_at, (unmoved_scans x x' after Hu).
    rewrite <- Rmult_assoc. apply Rmult_le_compat_r; [apply pmf_nonneg|]. apply stopping_step; trivial.
  - inversion_clear Hu as [|? ? Hb Hs]. destruct tau as [|t tau]; [rewrite !scans_not_nil; lra|].
    rewrite !scans_at, (unmoved_run x x' b Hb). specialize (IH Hs tau).
    rewrite <- Rmult_assoc, (Rmult_comm (decay _)), Rmult_assoc. apply Rmult_le_compat_l; trivial. apply pmf_nonneg.
Qed.

(** *** If every step moves at most one of them, all of them together cost c·ε *)
Theorem scans_private (step_cost : X -> X -> cost) D asks :
  (forall x x', step_cost x x' = Inf \/
     ((Fin (INR c * eps) <= step_cost x x')%cost /\ (moves_one x x' asks \/ Forall (unmoved x x') asks))) ->
  shortest step_cost D -> private D (scans asks).
Proof.
  intros Hs HD. apply (private_shortest _ _ _ HD). apply (proj2 (private_decay _ _)). intros x x' tau.
  destruct (Hs x x') as [->|(Ec & H)]; [simpl; rewrite Rmult_0_l; apply pmf_nonneg|].
  apply Rle_trans with (decay (Fin (INR c * eps)) * scans asks x tau).
  { apply Rmult_le_compat_r; [apply pmf_nonneg | apply decay_le; trivial]. }
  destruct H as [H|H]; [rewrite <- times_Fin; apply scans_step; trivial|].
  rewrite (unmoved_scans x x' asks H). rewrite <- (Rmult_1_l (scans asks x' tau)) at 2.
  apply Rmult_le_compat_r; [apply pmf_nonneg|]. apply decay_le_1. simpl. apply Rmult_le_pos; [apply pos_INR | lra].
Qed.

End Scans.

(** ** Numbers of people, who are in one group each: how many of a group are above a level *)

Definition above (g : nat) (z : Z) (T : list (nat * Z)) : Z :=
  Z.of_nat (length (filter (fun r => andb (fst r =? g)%nat (z <? snd r)%Z) T)).

(** The question after so many answers: the next level of a public list, with a public threshold. *)
Definition levels_of (t : Z) (levels : list Z) (g : nat) : strategy (list (nat * Z)) :=
  fun past => Question (above g (nth (length past) levels 0%Z)) t.

Inductive leaves : list (nat * Z) -> list (nat * Z) -> Prop :=
  person_leaves before r after : leaves (before ++ r :: after) (before ++ after).

Lemma above_without g z before r after : above g z (before ++ r :: after) =
  (above g z (before ++ after) + if andb (fst r =? g)%nat (z <? snd r)%Z then 1 else 0)%Z.
Proof.
  unfold above. rewrite !filter_app, !app_length. cbn [filter].
  destruct (andb _ _); cbn [length]; lia.
Qed.

(** However many levels and groups there are. *)
Theorem levels_private eps (Heps : 0 < eps) n c t (levels : nat -> list Z) groups step_cost D : NoDup groups ->
  (forall T T', step_cost T T' = Inf \/ ((Fin (INR c * eps) <= step_cost T T')%cost /\ leaves T T')) -> shortest step_cost D ->
  private D (scans eps Heps n c (map (fun g => levels_of t (levels g) g) groups)).
Proof.
  intros Hg Hs HD. apply (scans_private eps Heps n c step_cost D); trivial.
  intros T T'. destruct (Hs T T') as [|[E L]]; [tauto|]. right. split; [exact E|]. destruct L as [before r after].
  assert (U : forall g, g <> fst r -> unmoved (before ++ r :: after) (before ++ after) (levels_of t (levels g) g)).
  { intros g N past. cbn [levels_of count]. rewrite above_without. destruct (Nat.eqb_spec (fst r) g); [congruence|]. simpl. lia. }
  destruct (in_dec Nat.eq_dec (fst r) groups) as [Hi|Hi].
  - left. destruct (in_split _ _ Hi) as (g1 & g2 & ->).
    exists (map (fun g => levels_of t (levels g) g) g1), (levels_of t (levels (fst r)) (fst r)), (map (fun g => levels_of t (levels g) g) g2).
    split; [rewrite map_app; reflexivity|]. split.
    + intros past. cbn [levels_of count]. rewrite above_without. destruct (andb _ _); lia.
    + rewrite <- map_app. apply Forall_map, Forall_forall. intros g Hin. apply U. intros ->.
      apply NoDup_remove_2 in Hg. tauto.
  - right. apply Forall_map, Forall_forall. intros g Hin. apply U. intros ->. tauto.
Qed.
