(** Sums over 0..n. *)

From Coq Require Import Reals Lra Lia List.
From Leeward Require Import Sums.
Import ListNotations.
Open Scope R_scope.

Definition Sig (n : nat) (f : nat -> R) : R := total f (seq 0 (S n)).

Lemma Sig_S n f : Sig (S n) f = Sig n f + f (S n).
Proof. apply total_seq_S. Qed.

Lemma Sig_0 f : Sig 0 f = f O.
Proof. unfold Sig. simpl. lra. Qed.

Lemma Sig_ext n f g : (forall i, (i <= n)%nat -> f i = g i) -> Sig n f = Sig n g.
Proof. intros H. apply total_ext. intros i Hi. apply in_seq in Hi. apply H. lia. Qed.

Lemma Sig_le n f g : (forall i, (i <= n)%nat -> f i <= g i) -> Sig n f <= Sig n g.
Proof. intros H. apply total_le. intros i Hi. apply in_seq in Hi. apply H. lia. Qed.

Lemma Sig_plus n f g : Sig n (fun i => f i + g i) = Sig n f + Sig n g.
Proof. apply total_plus. Qed.

Lemma Sig_scal n c f : Sig n (fun i => c * f i) = c * Sig n f.
Proof. apply total_scal. Qed.

Lemma Sig_nonneg n f : (forall i, (i <= n)%nat -> 0 <= f i) -> 0 <= Sig n f.
Proof. intros H. rewrite <- (Rmult_0_l (Sig n (fun _ => 0))), <- Sig_scal. apply Sig_le. intros i Hi. rewrite Rmult_0_l. auto. Qed.

Lemma Sig_split n t f : (t <= n)%nat -> Sig n f = total f (seq 0 t) + f t + total f (seq (S t) (n - t)).
Proof.
  intros H. unfold Sig. replace (S n) with (t + S (n - t))%nat by lia. rewrite seq_app, total_app. simpl. lra.
Qed.

Lemma Sig_one n t f : (t <= n)%nat -> (forall i, (i <= n)%nat -> i <> t -> f i = 0) -> Sig n f = f t.
Proof.
  intros Ht H. rewrite (Sig_split n t) by trivial.
  rewrite (total_ext f (fun _ => 0 * 0) (seq 0 t)), (total_ext f (fun _ => 0 * 0) (seq (S t) (n - t))), !total_scal.
  - lra.
  - intros i Hi. apply in_seq in Hi. rewrite H by lia. lra.
  - intros i Hi. apply in_seq in Hi. rewrite H by lia. lra.
Qed.

Lemma Sig_ge_one n t f : (t <= n)%nat -> (forall i, (i <= n)%nat -> 0 <= f i) -> f t <= Sig n f.
Proof.
  intros Ht H. rewrite (Sig_split n t) by trivial.
  assert (0 <= total f (seq 0 t)).
  { rewrite <- (Rmult_0_l (total (fun _ => 0) (seq 0 t))), <- total_scal. apply total_le.
    intros i Hi. apply in_seq in Hi. rewrite Rmult_0_l. apply H. lia. }
  assert (0 <= total f (seq (S t) (n - t))).
  { rewrite <- (Rmult_0_l (total (fun _ => 0) (seq (S t) (n - t)))), <- total_scal. apply total_le.
    intros i Hi. apply in_seq in Hi. rewrite Rmult_0_l. apply H. lia. }
  lra.
Qed.

Lemma Sig_swap n m f : Sig n (fun i => Sig m (fun j => f i j)) = Sig m (fun j => Sig n (fun i => f i j)).
Proof.
  induction n as [|n IH].
  - rewrite Sig_0. apply Sig_ext. intros. rewrite Sig_0. reflexivity.
  - rewrite Sig_S, IH, <- Sig_plus. apply Sig_ext. intros. rewrite Sig_S. reflexivity.
Qed.

Lemma Sig_const n c : Sig n (fun _ => c) = INR (S n) * c.
Proof. induction n as [|n IH]; [rewrite Sig_0; simpl; lra|]. rewrite Sig_S, IH, (S_INR (S n)). lra. Qed.

Lemma Sig_abs n f : Rabs (Sig n f) <= Sig n (fun i => Rabs (f i)).
Proof.
  induction n as [|n IH]; [rewrite !Sig_0; lra|]. rewrite !Sig_S. eapply Rle_trans; [apply Rabs_triang|]. lra.
Qed.

Lemma Sig_strict n t f : (t <= n)%nat -> (forall i, (i <= n)%nat -> f i <= 0) -> f t < 0 -> Sig n f < 0.
Proof.
  intros Ht H Hf. pose proof (Sig_ge_one n t (fun i => -1 * f i) Ht) as G. rewrite Sig_scal in G.
  assert (-1 * f t <= -1 * Sig n f); [|lra]. apply G. intros i Hi. specialize (H i Hi). lra.
Qed.

Definition ind (c s : nat) : R := if Nat.eqb c s then 1 else 0.

Lemma ind_same c : ind c c = 1.
Proof. unfold ind. rewrite Nat.eqb_refl. trivial. Qed.

Lemma ind_other c s : c <> s -> ind c s = 0.
Proof. intros H. unfold ind. destruct (Nat.eqb_spec c s); tauto. Qed.
