(** Laws: probability distributions with countable support, and what is made of them. *)

From Coq Require Import Reals Lra Lia List Classical ZArith.
From Leeward Require Import Sums.
Import ListNotations.
Open Scope R_scope.

(** A law on [A]: non-negative probabilities whose sum is 1. *)
Record law (A : Type) := Law {
  pmf :> A -> R;
  pmf_nonneg : forall a, 0 <= pmf a;
  pmf_sum : sum_over everything pmf 1 }.
Arguments pmf {A}.
Arguments pmf_nonneg {A}.
Arguments pmf_sum {A}.
Arguments Law {A}.

Section Probability.
Context {A : Type}.
Implicit Types (p : law A) (Z : A -> Prop).

Lemma pmf_within p Z l : within Z l -> total p l <= 1.
Proof. intros [Hn _]. apply (sum_ge _ _ _ l (pmf_sum p)). split; trivial. intros; exact I. Qed.

(** The probability of any set of outputs: the sum of the probabilities of its elements. *)
Definition Pr p Z : R := proj1_sig (sum_exists Z p 1 (fun l => pmf_within p Z l)).

Lemma Pr_sum p Z : sum_over Z p (Pr p Z).
Proof. unfold Pr. apply proj2_sig. Qed.

Lemma Pr_is p Z s : sum_over Z p s -> Pr p Z = s.
Proof. apply sum_unique, Pr_sum. Qed.

Lemma Pr_nonneg p Z : 0 <= Pr p Z.
Proof. apply (sum_nonneg Z p), Pr_sum. Qed.

Lemma Pr_le_1 p Z : Pr p Z <= 1.
Proof. apply (sum_le_bound _ _ _ _ (Pr_sum p Z)). apply pmf_within. Qed.

Lemma Pr_everything p : Pr p everything = 1.
Proof. apply Pr_is, pmf_sum. Qed.

Lemma Pr_mono p Z Z' : (forall a, Z a -> Z' a) -> Pr p Z <= Pr p Z'.
Proof. intros H. apply (sum_mono Z Z' p p); try apply Pr_sum; trivial. intros; lra. Qed.

Lemma Pr_ext p p' Z Z' : (forall a, p a = p' a) -> (forall a, Z a <-> Z' a) -> Pr p Z = Pr p' Z'.
Proof. intros Hp HZ. apply Pr_is. eapply sum_ext; [| |apply Pr_sum]; auto. intros; symmetry; apply HZ. Qed.

Lemma Pr_one p Z a : (forall b, Z b <-> b = a) -> Pr p Z = p a.
Proof. intros H. apply Pr_is, sum_one; trivial. apply pmf_nonneg. Qed.

Lemma pmf_as_Pr p a : p a = Pr p (fun b => b = a).
Proof. symmetry. apply Pr_one. tauto. Qed.

Lemma Pr_none p Z : (forall a, ~ Z a) -> Pr p Z = 0.
Proof. intros H. apply Pr_is, sum_empty; trivial. Qed.

Lemma Pr_or p Z Z' : (forall a, Z a -> Z' a -> False) -> Pr p (fun a => Z a \/ Z' a) = Pr p Z + Pr p Z'.
Proof. intros H. apply Pr_is, sum_disjoint; trivial; apply Pr_sum. Qed.

Lemma Pr_list p Z l : NoDup l -> (forall a, Z a <-> In a l) -> Pr p Z = total p l.
Proof.
  intros Hn HZ. apply Pr_is, sum_intro.
  - intros m [Hm Hl]. apply total_incl; trivial; [apply pmf_nonneg|]. intros a Ha. apply HZ; auto.
  - intros e He. exists l. split; [|lra]. split; trivial. intros; apply HZ; trivial.
Qed.

Lemma Pr_not p Z : Pr p (fun a => ~ Z a) = 1 - Pr p Z.
Proof.
  assert (E : Pr p (fun a => Z a \/ ~ Z a) = 1).
  { rewrite <- (Pr_everything p). apply Pr_ext; trivial. intros a; unfold everything. pose proof (classic (Z a)). tauto. }
  rewrite Pr_or in E by tauto. lra.
Qed.

Lemma pmf_le_Pr p Z a : Z a -> p a <= Pr p Z.
Proof. intros H. rewrite <- (Pr_one p (fun b => b = a) a) by tauto. apply Pr_mono. intros b ->; trivial. Qed.

Lemma pmf_le_1 p a : p a <= 1.
Proof. rewrite <- (Pr_everything p). apply pmf_le_Pr. exact I. Qed.

Lemma Pr_positive p Z : 0 < Pr p Z -> exists a, Z a /\ 0 < p a.
Proof.
  intros H. destruct (sum_near _ _ _ _ (Pr_sum p Z) H) as (l & [_ Hl] & Ht).
  apply NNPP. intros N. assert (total p l <= total (fun _ => 0 * 0) l).
  { apply total_le. intros a Ha. apply Rnot_lt_le. intros Hp. apply N. exists a. split; auto. lra. }
  rewrite total_scal in H0. lra.
Qed.

End Probability.

(** Two families of set probabilities compare iff their masses do: from points to sets. *)
Lemma Pr_pointwise {A} (p p' : law A) Z c : 0 <= c -> (forall a, p a <= c * p' a) -> Pr p Z <= c * Pr p' Z.
Proof.
  intros Hc H. apply (sum_mono Z Z p (fun a => c * p' a)); auto; [apply Pr_sum | apply sum_scal, Pr_sum; trivial].
Qed.

(** ** What is computed from an output *)

Section Image.
Context {A B : Type} (g : A -> B) (p : law A).

Lemma fibres Z : sum_over Z (fun b => Pr p (fun a => g a = b)) (Pr p (fun a => Z (g a))).
Proof.
  assert (T := tonelli (fun x : B * A => Z (fst x) /\ g (snd x) = fst x) (fun x => p (snd x))
                (fun b => Pr p (fun a => Z b /\ g a = b)) (Pr p (fun a => Z (g a)))).
  assert (H : sum_over everything (fun b => Pr p (fun a => Z b /\ g a = b)) (Pr p (fun a => Z (g a)))).
  { apply T.
    - intros; apply pmf_nonneg.
    - intros b. apply Pr_sum.
    - apply (sum_image (fun a => (g a, a)) (fun a => Z (g a))).
      + intros a a' _ _ E. congruence.
      + intros [b a]. simpl. split; [intros [HZ <-]; eauto|]. intros (a' & HZ & E). inversion E; subst. tauto.
      + apply Pr_sum. }
  apply sum_intro.
  - intros l [Hn Hl]. rewrite (total_ext _ (fun b => Pr p (fun a => Z b /\ g a = b))).
    + eapply sum_ge; eauto. split; trivial. intros; exact I.
    + intros b Hb. apply Pr_ext; trivial. intros a. specialize (Hl b Hb). tauto.
  - intros e He. destruct (sum_near _ _ _ e H He) as (l & [Hn _] & Ht).
    destruct (split_by Z l) as (l1 & l2 & E & HN & H1 & H2). exists l1. split.
    + split; [tauto|]. intros; apply H1; trivial.
    + rewrite E in Ht. rewrite (total_ext _ (fun _ => 0 * 0) l2) in Ht.
      2: { intros b Hb. rewrite Rmult_0_l. apply Pr_none. intros a [HZ _]. apply H2 in Hb. tauto. }
      rewrite total_scal in Ht.
      rewrite (total_ext _ (fun b => Pr p (fun a => Z b /\ g a = b))); [lra|].
      intros b Hb. apply Pr_ext; trivial. intros a. apply H1 in Hb. tauto.
Qed.

(** The law of [g] of a draw. *)
Definition map_law : law B.
Proof.
  exists (fun b => Pr p (fun a => g a = b)).
  - intros; apply Pr_nonneg.
  - rewrite <- (Pr_everything p). apply (fibres everything).
Defined.

Lemma Pr_map Z : Pr map_law Z = Pr p (fun a => Z (g a)).
Proof. apply Pr_is, fibres. Qed.

Lemma map_inj a : (forall a', g a' = g a -> a' = a) -> map_law (g a) = p a.
Proof. intros H. simpl. apply Pr_one. intros b. split; [apply H | intros ->; trivial]. Qed.

End Image.

Definition unit_law : law unit.
Proof.
  exists (fun _ => 1); [intros; lra|].
  apply (sum_one everything (fun _ => 1) tt); [|lra]. intros []. unfold everything; tauto.
Defined.

(** The law of something certain. *)
Definition certain {A} (a : A) : law A := map_law (fun _ => a) unit_law.

Lemma certain_at {A} (a : A) : certain a a = 1.
Proof. simpl. rewrite <- (Pr_everything unit_law). apply Pr_ext; trivial. unfold everything; tauto. Qed.

Lemma certain_off {A} (a b : A) : a <> b -> certain a b = 0.
Proof. intros H. simpl. apply Pr_none. tauto. Qed.

(** ** Two draws, the second with a law that may depend on the first *)

Section Pairs.
Context {A B : Type} (p : law A) (k : A -> law B).

Definition pair_law : law (A * B).
Proof.
  exists (fun x => p (fst x) * k (fst x) (snd x)).
  - intros; apply Rmult_le_pos; apply pmf_nonneg.
  - apply (tonelli everything _ (fun a => p a)).
    + intros; apply Rmult_le_pos; apply pmf_nonneg.
    + intros a. simpl. pose proof (sum_scal _ _ (p a) 1 (pmf_nonneg p a) (pmf_sum (k a))) as H.
      rewrite Rmult_1_r in H. apply H.
    + apply pmf_sum.
Defined.

Lemma Pr_pair Z : sum_over everything (fun a => p a * Pr (k a) (fun b => Z (a, b))) (Pr pair_law Z).
Proof.
  apply (tonelli Z (fun x => p (fst x) * k (fst x) (snd x))).
  - intros; apply Rmult_le_pos; apply pmf_nonneg.
  - intros a. simpl. apply sum_scal; [apply pmf_nonneg | apply Pr_sum].
  - apply (Pr_sum pair_law).
Qed.

(** Only the second draw is kept. *)
Definition bind_law : law B := map_law snd pair_law.

Lemma Pr_bind Z : sum_over everything (fun a => p a * Pr (k a) Z) (Pr bind_law Z).
Proof. unfold bind_law. rewrite Pr_map. apply (Pr_pair (fun x => Z (snd x))). Qed.

End Pairs.

(** Two independent draws. *)
Definition both_laws {A B} (p : law A) (q : law B) : law (A * B) := pair_law p (fun _ => q).

(** ** Finite laws *)

(** A coin: [true] with probability [t]. *)
Definition coin (t : R) (H : 0 <= t <= 1) : law bool.
Proof.
  exists (fun b : bool => if b then t else 1 - t).
  - intros []; lra.
  - replace 1 with (t + (1 - t)) at 1 by lra.
    eapply (sum_ext (fun b => b = true \/ b = false) everything);
      [| |apply (sum_disjoint (fun b => b = true) (fun b => b = false) (fun b : bool => if b then t else 1 - t))].
    + intros []; unfold everything; tauto.
    + intros; reflexivity.
    + intros b -> E; discriminate.
    + apply (sum_one _ (fun b : bool => if b then t else 1 - t) true); simpl; [tauto | lra].
    + apply (sum_one _ (fun b : bool => if b then t else 1 - t) false); simpl; [tauto | lra].
Defined.

(** The law given that a set of positive probability is hit: drawing again until it is. *)
Definition given {A} (p : law A) (Z : A -> bool) (H : 0 < Pr p (fun a => Z a = true)) : law A.
Proof.
  exists (fun a => if Z a then p a / Pr p (fun a => Z a = true) else 0).
  - intros a. destruct (Z a); [|lra]. apply Rmult_le_pos; [apply pmf_nonneg|]. left. apply Rinv_0_lt_compat; trivial.
  - apply (sum_support (fun a => Z a = true)).
    + intros a. destruct (Z a); [|lra]. apply Rmult_le_pos; [apply pmf_nonneg|]. left. apply Rinv_0_lt_compat; trivial.
    + intros a Ha. destruct (Z a); tauto.
    + replace 1 with (/ Pr p (fun a => Z a = true) * Pr p (fun a => Z a = true)) by (field; lra).
      eapply sum_ext; [| |apply sum_scal, Pr_sum].
      * intros; reflexivity.
      * intros a Ha. simpl. rewrite Ha. unfold Rdiv. apply Rmult_comm.
      * left. apply Rinv_0_lt_compat; trivial.
Defined.
