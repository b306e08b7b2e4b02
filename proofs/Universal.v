(** Universal optimality on the directed line (docs/theorem.md), for mechanisms: on answers 0..n, the clamped geometric mechanism
    followed by the best remap of its outputs has the least expected loss of all private mechanisms, for every prior and every
    loss that does not fall as the guess moves away from the truth, on either side. *)

From Coq Require Import Reals Lra Lia List ZArith Classical.
From Coq Require FinFun.
From Leeward Require Import Sums Laws Distance Privacy Geometric FiniteSums Optimality.
Import ListNotations.
Open Scope R_scope.

Section Mechanisms.
Context (a b : cost) (Ha : rate a) (Hb : rate b) (n : nat) (Hn : (1 <= n)%nat).

Let al := decay b.
Let be := decay a.

Definition Gn : mechanism nat Z := fun i => clamped a b Ha Hb (Some 0%Z) (Some (Z.of_nat n)) (Z.of_nat i).

(** The probabilities of the clamped geometric mechanism. *)
Theorem clamped_at i z : (i <= n)%nat -> (z <= n)%nat -> Gn i (Z.of_nat z) = G al be n i z.
Proof.
  intros Hi Hz. pose proof (rate_decay b Hb) as Hal. pose proof (rate_decay a Ha) as Hbe. fold al in Hal. fold be in Hbe.
  pose proof (product_below_1 al be Hal Hbe) as Hp. unfold Gn, clamped. cbn [map_law pmf]. rewrite Pr_geometric. unfold G.
  destruct (Nat.eqb_spec z 0) as [->|N0]; [|destruct (Nat.eqb_spec z n) as [->|Nn]].
  - rewrite (Pr_ext _ (noise (decay b) (decay a) (rate_decay b Hb) (rate_decay a Ha)) _ (fun k => (k <= - Z.of_nat i)%Z));
      [|trivial|intros k; unfold clamp; lia].
    destruct (Nat.eq_dec i 0) as [->|Ni].
    + rewrite noise_at_most_nonneg by lia. change (Z.to_nat (- Z.of_nat 0 + 1)) with 1%nat. fold al be. simpl. field. lra.
    + rewrite noise_at_most by lia. rewrite Z.opp_involutive, Nat2Z.id. fold al be. field. lra.
  - rewrite (Pr_ext _ (noise (decay b) (decay a) (rate_decay b Hb) (rate_decay a Ha)) _ (fun k => (Z.of_nat n - Z.of_nat i <= k)%Z));
      [|trivial|intros k; unfold clamp; lia].
    rewrite noise_at_least by lia. replace (Z.to_nat (Z.of_nat n - Z.of_nat i)) with (n - i)%nat by lia. fold al be. field. lra.
  - rewrite (Pr_one _ _ (Z.of_nat z - Z.of_nat i)%Z); [reflexivity|]. intros k. unfold clamp. lia.
Qed.

(** Clamped, it is as tight as before: for any two truths some output attains the bound. *)
Theorem clamped_tight i i' : (i <= n)%nat -> (i' <= n)%nat -> exists z,
  0 < Gn i z /\ Gn i' z = decay (line a b (Z.of_nat i) (Z.of_nat i')) * Gn i z.
Proof.
  intros Hi Hi'. exists (Z.of_nat i). rewrite !clamped_at by trivial.
  pose proof (rate_decay b Hb) as Hal. pose proof (rate_decay a Ha) as Hbe. fold al in Hal. fold be in Hbe.
  pose proof (product_below_1 al be Hal Hbe) as Hp.
  assert (W : decay (line a b (Z.of_nat i) (Z.of_nat i')) = weight al be (Z.of_nat i - Z.of_nat i'))
    by (symmetry; apply weight_line).
  rewrite W. unfold G. destruct (Nat.eqb_spec i 0) as [->|N0]; [|destruct (Nat.eqb_spec i n) as [->|Nn]].
  - assert (0 < (1 - al) / (1 - al * be)) by (apply Rdiv_lt_0_compat; lra). split; [simpl; lra|].
    unfold weight. destruct (Z.leb_spec 0 (Z.of_nat 0 - Z.of_nat i')).
    + replace i' with O by lia. simpl. ring.
    + replace (Z.to_nat (- (Z.of_nat 0 - Z.of_nat i'))) with i' by lia. simpl. ring.
  - assert (0 < (1 - be) / (1 - al * be)) by (apply Rdiv_lt_0_compat; lra). rewrite Nat.sub_diag. split; [simpl; lra|].
    unfold weight. destruct (Z.leb_spec 0 (Z.of_nat n - Z.of_nat i')); [|lia].
    replace (Z.to_nat (Z.of_nat n - Z.of_nat i')) with (n - i')%nat by lia. simpl. ring.
  - rewrite Z.sub_diag. pose proof (normaliser_pos al be Hal Hbe). 
    assert (E : weight al be 0 = 1) by reflexivity. rewrite E. split; [lra | ring].
Qed.

(** Privacy on the answers 0..n; outside of them nothing is promised. *)
Definition line_on (i i' : nat) : cost :=
  if andb (i <=? n)%nat (i' <=? n)%nat then line a b (Z.of_nat i) (Z.of_nat i') else Inf.

Theorem clamped_private_on : private line_on Gn.
Proof.
  intros i i' Z. unfold line_on. destruct (andb _ _); [|exact I]. apply (clamped_private a b Ha Hb).
Qed.

Definition expected_loss (prior : nat -> R) (loss : nat -> nat -> R) (guesses : mechanism nat nat) : R :=
  Sig n (fun i => prior i * Sig n (fun r => loss i r * guesses i r)).

Lemma Pr_in_list {A} (p : law A) (Z : A -> Prop) l : NoDup l -> (forall x, In x l -> Z x) -> (forall x, Z x -> ~ In x l -> p x = 0) ->
  Pr p Z = total p l.
Proof.
  intros Hl0 HZ H0. apply Pr_is, sum_intro.
  - intros m [Hm Hl]. destruct (split_by (fun x => In x l) m) as (m1 & m2 & Et & HN & H1 & H2). rewrite Et.
    rewrite (total_ext p (fun _ => 0 * 0) m2).
    + rewrite total_scal. assert (total p m1 <= total p l); [|lra]. apply total_incl; [apply pmf_nonneg | tauto|].
      intros x Hx. apply H1; trivial.
    + intros x Hx. apply H2 in Hx. rewrite H0; [lra | apply Hl; tauto | tauto].
  - intros e He. exists l. split; [split; trivial | lra].
Qed.

(** The answer of [Gn] lies in 0..n. *)
Lemma Gn_support i w : ~ (0 <= w <= Z.of_nat n)%Z -> Gn i w = 0.
Proof. intros H. unfold Gn, clamped. cbn [map_law pmf]. apply Pr_none. intros k. unfold clamp. lia. Qed.

Lemma remapped_loss prior loss (guess : nat -> nat) : (forall z, (guess z <= n)%nat) ->
  expected_loss prior loss (fun i => map_law (fun w => guess (Z.to_nat w)) (Gn i)) =
  Sig n (fun z => Sig n (fun i => G al be n i z * (prior i * loss i (guess z)))).
Proof.
  intros Hg. unfold expected_loss. rewrite Sig_swap. apply Sig_ext. intros i Hi.
  rewrite (Sig_ext n _ (fun r => Sig n (fun z => G al be n i z * (ind (guess z) r * loss i r)))).
  - rewrite Sig_swap, <- Sig_scal. apply Sig_ext. intros z Hz. rewrite Sig_scal.
    rewrite (Sig_one n (guess z)) by (trivial; intros r _ Hr; rewrite ind_other by auto; ring). rewrite ind_same. ring.
  - intros r Hr. set (l := map Z.of_nat (filter (fun z => guess z =? r)%nat (seq 0 (S n)))).
    cbn [map_law pmf]. rewrite (Pr_in_list (Gn i) _ l).
    + assert (C : forall m, (forall z, In z m -> (z <= n)%nat) ->
        total (Gn i) (map Z.of_nat (filter (fun z => guess z =? r)%nat m)) =
        total (fun z => G al be n i z * ind (guess z) r) m).
      { induction m as [|z m IH]; intros Hm; [reflexivity|]. cbn [filter total].
        assert (IH' := IH (fun z Hz => Hm z (or_intror Hz))). unfold ind at 1. destruct (guess z =? r)%nat.
        - cbn [map total]. rewrite IH', clamped_at; [ring | trivial | apply Hm; left; trivial].
        - rewrite IH'. ring. }
      unfold l. rewrite C by (intros z Hz; apply in_seq in Hz; lia). unfold Sig. rewrite <- total_scal.
      apply total_ext. intros; ring.
    + apply FinFun.Injective_map_NoDup; [intros x y; apply Nat2Z.inj | apply NoDup_filter, seq_NoDup].
    + intros w Hw. apply in_map_iff in Hw. destruct Hw as (z & <- & Hz). rewrite Nat2Z.id. apply filter_In in Hz.
      apply Nat.eqb_eq. tauto.
    + intros w Hw Hout. apply Gn_support. intros Hr'. apply Hout. apply in_map_iff. exists (Z.to_nat w).
      split; [lia|]. apply filter_In. split; [apply in_seq; lia | apply Nat.eqb_eq; trivial].
Qed.

(** Whatever the prior and the loss, as long as the loss does not fall as the guess moves away from the truth: some remap of
    the clamped geometric mechanism's output loses no more in expectation than any private mechanism, with whatever outputs,
    followed by any guess of 0..n, which may flip coins of its own. The remap depends on the prior and the loss only; what it
    loses is [remapped], of prior times loss. *)
Theorem universal_optimality (prior : nat -> R) (loss : nat -> nat -> R) :
  (forall i, (i <= n)%nat -> 0 <= prior i) -> monotone n loss ->
  exists guess : Z -> nat, (forall w, (guess w <= n)%nat) /\
    expected_loss prior loss (fun i => map_law guess (Gn i)) = remapped al be n (fun i r => prior i * loss i r) /\
    forall (A : Type) (K : mechanism nat A) (g : A -> law nat), private line_on K -> (forall x r, (n < r)%nat -> g x r = 0) ->
      expected_loss prior loss (fun i => map_law guess (Gn i)) <= expected_loss prior loss (fun i => bind_law (K i) g).
Proof.
  intros Hprior Hloss. pose proof (rate_decay b Hb) as Hal. pose proof (rate_decay a Ha) as Hbe. fold al in Hal. fold be in Hbe.
  set (W := fun i r => prior i * loss i r).
  exists (fun w => remap al be n W (Z.to_nat w)). split; [intros w; apply argmin_least|].
  split; [rewrite (remapped_loss prior loss (remap al be n W)) by (intros z; apply argmin_least); reflexivity|].
  intros A K g HK Hg. rewrite (remapped_loss prior loss (remap al be n W)) by (intros z; apply argmin_least).
  set (M := fun i r => bind_law (K i) g r).
  assert (HP : private line_on (fun i => bind_law (K i) g)) by (apply post_processing_random; trivial).
  assert (PD := proj1 (private_decay _ _) HP).
  assert (HF : feasible al be n M).
  { split.
    - intros. apply pmf_nonneg.
    - intros i Hi. rewrite <- (Pr_everything (bind_law (K i) g)). symmetry. apply Pr_in_list.
      + apply seq_NoDup.
      + intros; exact I.
      + intros r _ Hout. rewrite pmf_as_Pr. apply (sum_unique everything (fun x => K i x * Pr (g x) (fun r' => r' = r))).
        * apply Pr_bind.
        * eapply (sum_ext everything everything (fun _ => 0 * 0)); [tauto| |].
          { intros x _. rewrite (Pr_one _ _ r) by tauto. rewrite Hg; [ring|]. apply Nat.nle_gt. intros L. apply Hout, in_seq. lia. }
          { apply sum_intro.
            - intros l _. rewrite total_scal. lra.
            - intros e He. exists []. split; [apply within_nil | simpl; lra]. }
    - intros i r Hi Hr. specialize (PD i (S i) r). unfold line_on in PD.
      destruct (Nat.leb_spec i n), (Nat.leb_spec (S i) n); try lia. cbn [andb] in PD. rewrite <- weight_line in PD.
      unfold weight in PD. destruct (Z.leb_spec 0 (Z.of_nat i - Z.of_nat (S i))); [lia|].
      replace (Z.to_nat (- (Z.of_nat i - Z.of_nat (S i)))) with 1%nat in PD by lia. rewrite pow_1 in PD. exact PD.
    - intros i r Hi Hr. specialize (PD (S i) i r). unfold line_on in PD.
      destruct (Nat.leb_spec i n), (Nat.leb_spec (S i) n); try lia. cbn [andb] in PD. rewrite <- weight_line in PD.
      unfold weight in PD. destruct (Z.leb_spec 0 (Z.of_nat (S i) - Z.of_nat i)); [|lia].
      replace (Z.to_nat (Z.of_nat (S i) - Z.of_nat i)) with 1%nat in PD by lia. rewrite pow_1 in PD. exact PD. }
  assert (HW : monotone n W).
  { intros i r r' Hi Hr Hr'. destruct (Hloss i r r' Hi Hr Hr') as [H1 H2]. specialize (Hprior i Hi). unfold W.
    split; intros H; apply Rmult_le_compat_l; auto. }
  pose proof (remapped_is_least al be Hal Hbe n W M Hn HW HF) as R1.
  assert (E : expected_loss prior loss (fun i => bind_law (K i) g) = value n W M).
  { unfold expected_loss, value. apply Sig_ext. intros i _. rewrite <- Sig_scal. apply Sig_ext. intros r _. unfold W, M. ring. }
  rewrite E. exact R1.
Qed.

End Mechanisms.
