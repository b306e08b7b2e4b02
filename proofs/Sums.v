(** Sums over countable sets, without an enumeration: the sum of a non-negative function over a set is the least upper
    bound of its sums over finite lists of distinct elements. For a function on the natural numbers this is the series
    ([sum_is_series] below), and no order of summation has to be chosen for integers, pairs or transcripts. *)

From Coq Require Import Reals Lra Lia List Classical.
Import ListNotations.
Open Scope R_scope.

Section Lists.
Context {A : Type}.
Implicit Types (f g : A -> R) (l : list A) (Z : A -> Prop).

Fixpoint total f l : R := match l with [] => 0 | a :: l => f a + total f l end.

Lemma total_app f l1 l2 : total f (l1 ++ l2) = total f l1 + total f l2.
Proof. induction l1; simpl; lra. Qed.

Lemma total_nonneg f l : (forall a, 0 <= f a) -> 0 <= total f l.
Proof. intros H; induction l as [|a l IH]; simpl; [lra | specialize (H a); lra]. Qed.

Lemma total_le f g l : (forall a, In a l -> f a <= g a) -> total f l <= total g l.
Proof.
  induction l as [|a l IH]; simpl; intros H; [lra|].
  pose proof (H a (or_introl eq_refl)). assert (total f l <= total g l) by (apply IH; intros; apply H; tauto). lra.
Qed.

Lemma total_ext f g l : (forall a, In a l -> f a = g a) -> total f l = total g l.
Proof. intros H. apply Rle_antisym; apply total_le; intros; rewrite H; trivial; lra. Qed.

Lemma total_scal c f l : total (fun a => c * f a) l = c * total f l.
Proof. induction l; simpl; [|rewrite IHl]; lra. Qed.

Lemma total_plus f g l : total (fun a => f a + g a) l = total f l + total g l.
Proof. induction l; simpl; [|rewrite IHl]; lra. Qed.

Lemma total_incl f l l' : (forall a, 0 <= f a) -> NoDup l -> incl l l' -> total f l <= total f l'.
Proof.
  intros Hf; revert l'. induction l as [|a l IH]; intros l' Hn Hi; simpl.
  - apply total_nonneg; trivial.
  - inversion_clear Hn as [|? ? Ha Hn'].
    destruct (in_split a l') as (l1 & l2 & ->); [apply Hi; left; trivial|].
    assert (total f l <= total f (l1 ++ l2)).
    { apply IH; trivial. intros b Hb. assert (Hb' := Hi b (or_intror Hb)).
      apply in_app_or in Hb'. apply in_or_app. destruct Hb' as [|[->|]]; tauto. }
    rewrite total_app in *. simpl. lra.
Qed.

(** A list is split by any property of its elements. *)
Lemma split_by (P : A -> Prop) l : exists l1 l2,
  (forall f, total f l = total f l1 + total f l2) /\ (NoDup l -> NoDup l1 /\ NoDup l2) /\
  (forall a, In a l1 <-> In a l /\ P a) /\ (forall a, In a l2 <-> In a l /\ ~ P a).
Proof.
  induction l as [|a l (l1 & l2 & Ht & Hn & H1 & H2)].
  { exists [], []; simpl; repeat split; intros; try lra; try constructor; tauto. }
  destruct (classic (P a)) as [Pa|Pa]; [exists (a :: l1), l2 | exists l1, (a :: l2)]; (split; [|split; [|split]]).
  1, 5: intros f; simpl; rewrite Ht; lra.
  1, 4: intros H; inversion_clear H as [|? ? Ha Hl]; destruct (Hn Hl); split; trivial; constructor; trivial;
    rewrite ?H1, ?H2; tauto.
  all: intros b; simpl; rewrite ?H1, ?H2; assert (a = b -> (P b <-> P a)) by (intros ->; tauto); tauto.
Qed.

Definition within Z l : Prop := NoDup l /\ forall a, In a l -> Z a.

Lemma within_nil Z : within Z [].
Proof. split; [constructor | intros a []]. Qed.

Lemma within_one (Z : A -> Prop) a : Z a -> within Z [a].
Proof. intros Ha; split; [repeat constructor; tauto | intros b [<-|[]]; trivial]. Qed.

End Lists.

Definition everything {A : Type} : A -> Prop := fun _ => True.

(** [sum_over Z f s]: the sum of [f] over the set [Z] is [s]. *)
Definition sum_over {A : Type} (Z : A -> Prop) (f : A -> R) (s : R) : Prop :=
  is_lub (fun t => exists l, within Z l /\ t = total f l) s.

Section Sums.
Context {A : Type}.
Implicit Types (f g : A -> R) (l : list A) (Z : A -> Prop) (s t : R).

Lemma sum_unique Z f s t : sum_over Z f s -> sum_over Z f t -> s = t.
Proof. apply is_lub_u. Qed.

Lemma sum_ge Z f s l : sum_over Z f s -> within Z l -> total f l <= s.
Proof. intros [Hu _] Hl. apply Hu. eauto. Qed.

Lemma sum_nonneg Z f s : sum_over Z f s -> 0 <= s.
Proof. intros H. apply (sum_ge Z f s [] H), within_nil. Qed.

Lemma sum_le_bound Z f s B : sum_over Z f s -> (forall l, within Z l -> total f l <= B) -> s <= B.
Proof. intros [_ Hl] H. apply Hl. intros t (l & Hw & ->). auto. Qed.

Lemma sum_near Z f s e : sum_over Z f s -> 0 < e -> exists l, within Z l /\ s - e < total f l.
Proof.
  intros [_ Hl] He. apply NNPP. intros N. assert (s <= s - e); [|lra].
  apply Hl. intros t (l & Hw & ->). apply Rnot_lt_le. intros Hlt. apply N. eauto.
Qed.

Lemma sum_intro Z f s : (forall l, within Z l -> total f l <= s) ->
  (forall e, 0 < e -> exists l, within Z l /\ s - e <= total f l) -> sum_over Z f s.
Proof.
  intros Hu Hl. split.
  - intros t (l & Hw & ->). auto.
  - intros b Hb. apply Rnot_lt_le. intros Hlt.
    destruct (Hl ((s - b) / 2)) as (l & Hw & Ht); [lra|].
    assert (total f l <= b) by (apply Hb; eauto). lra.
Qed.

Lemma sum_exists Z f B : (forall l, within Z l -> total f l <= B) -> {s | sum_over Z f s}.
Proof.
  intros H. apply completeness.
  - exists B. intros t (l & Hw & ->). auto.
  - exists (total f []), []. split; trivial. apply within_nil.
Qed.

Lemma sum_ext Z Z' f g s : (forall a, Z a <-> Z' a) -> (forall a, Z a -> f a = g a) -> sum_over Z f s -> sum_over Z' g s.
Proof.
  intros HZ Hf H. apply sum_intro.
  - intros l [Hn Hl]. rewrite <- (total_ext f g) by (intros; apply Hf, HZ, Hl; trivial).
    eapply sum_ge; eauto. split; trivial. intros; apply HZ; auto.
  - intros e He. destruct (sum_near _ _ _ e H He) as (l & [Hn Hl] & Ht). exists l. split.
    + split; trivial. intros; apply HZ; auto.
    + rewrite <- (total_ext f g); [lra|]. intros; apply Hf; auto.
Qed.

Lemma sum_mono Z Z' f g s t : (forall a, Z a -> Z' a) -> (forall a, Z a -> f a <= g a) ->
  sum_over Z f s -> sum_over Z' g t -> s <= t.
Proof.
  intros HZ Hf Hs Ht. apply (sum_le_bound _ _ _ _ Hs). intros l [Hn Hl].
  apply Rle_trans with (total g l); [apply total_le; auto|]. eapply sum_ge; eauto. split; auto.
Qed.

Lemma sum_scal Z f c s : 0 <= c -> sum_over Z f s -> sum_over Z (fun a => c * f a) (c * s).
Proof.
  intros Hc H. apply sum_intro.
  - intros l Hl. rewrite total_scal. apply Rmult_le_compat_l; trivial. eapply sum_ge; eauto.
  - intros e He. destruct (sum_near _ _ _ (e / (c + 1)) H) as (l & Hl & Ht).
    { apply Rdiv_lt_0_compat; lra. }
    exists l. split; trivial. rewrite total_scal.
    assert (c * (e / (c + 1)) <= e).
    { replace (c * (e / (c + 1))) with (e - e / (c + 1)) by (field; lra).
      assert (0 < e / (c + 1)) by (apply Rdiv_lt_0_compat; lra). lra. }
    assert (c * (s - e / (c + 1)) <= c * total f l) by (apply Rmult_le_compat_l; lra). lra.
Qed.

Lemma sum_empty Z f : (forall a, ~ Z a) -> sum_over Z f 0.
Proof.
  intros H. apply sum_intro.
  - intros [|a l] [_ Hl]; simpl; [lra|]. destruct (H a). apply Hl. left; trivial.
  - intros e He. exists []. split; [apply within_nil | simpl; lra].
Qed.

Lemma sum_one Z f a : (forall b, Z b <-> b = a) -> 0 <= f a -> sum_over Z f (f a).
Proof.
  intros H Ha. apply sum_intro.
  - intros l [Hn Hl]. destruct l as [|b [|c l]]; simpl; trivial.
    + assert (b = a) as -> by (apply H, Hl; left; trivial). lra.
    + assert (b = a) as -> by (apply H, Hl; left; trivial).
      assert (c = a) as -> by (apply H, Hl; right; left; trivial).
      inversion_clear Hn. simpl in *. tauto.
  - intros e He. exists [a]. split; [apply within_one, H; trivial | simpl; lra].
Qed.

(** A function that vanishes outside [Z] may be summed over all. *)
Lemma sum_support Z f s : (forall a, 0 <= f a) -> (forall a, ~ Z a -> f a = 0) ->
  sum_over Z f s -> sum_over everything f s.
Proof.
  intros Hf H0 H. apply sum_intro.
  - intros l [Hn _]. destruct (split_by Z l) as (l1 & l2 & Ht & HN & H1 & H2). rewrite Ht.
    rewrite (total_ext f (fun _ => 0 * 0) l2) by (intros a Ha; rewrite H0; [lra | apply H2; trivial]).
    rewrite total_scal. assert (total f l1 <= s); [|lra]. eapply sum_ge; eauto. split; [tauto|]. intros; apply H1; trivial.
  - intros e He. destruct (sum_near _ _ _ e H He) as (l & [Hn Hl] & Ht). exists l. split; [|lra].
    split; trivial. intros; exact I.
Qed.

Lemma sum_disjoint Z1 Z2 f s1 s2 : (forall a, Z1 a -> Z2 a -> False) ->
  sum_over Z1 f s1 -> sum_over Z2 f s2 -> sum_over (fun a => Z1 a \/ Z2 a) f (s1 + s2).
Proof.
  intros Hd H1 H2. apply sum_intro.
  - intros l [Hn Hl]. destruct (split_by Z1 l) as (l1 & l2 & Ht & HN & HI1 & HI2). rewrite Ht.
    assert (total f l1 <= s1).
    { eapply sum_ge; eauto. split; [tauto|]. intros; apply HI1; trivial. }
    assert (total f l2 <= s2).
    { eapply sum_ge; eauto. split; [tauto|]. intros a Ha. apply HI2 in Ha. destruct Ha as [Ha Hna].
      destruct (Hl a Ha); tauto. }
    lra.
  - intros e He.
    destruct (sum_near _ _ _ (e / 2) H1) as (l1 & [Hn1 Hl1] & Ht1); [lra|].
    destruct (sum_near _ _ _ (e / 2) H2) as (l2 & [Hn2 Hl2] & Ht2); [lra|].
    exists (l1 ++ l2). rewrite total_app. split; [|lra]. split.
    + clear Ht1. induction l1 as [|a l1 IH]; simpl; trivial. inversion_clear Hn1. constructor.
      * intros Hi. apply in_app_or in Hi. destruct Hi; [tauto|]. apply (Hd a); [apply Hl1; left | apply Hl2]; trivial.
      * apply IH; trivial. intros; apply Hl1; right; trivial.
    + intros a Ha. apply in_app_or in Ha. destruct Ha; auto.
Qed.

Lemma sum_plus Z f g s t : (forall a, 0 <= f a) -> (forall a, 0 <= g a) ->
  sum_over Z f s -> sum_over Z g t -> sum_over Z (fun a => f a + g a) (s + t).
Proof.
  intros Hf Hg Hs Ht. apply sum_intro.
  - intros l Hl. rewrite total_plus. pose proof (sum_ge _ _ _ _ Hs Hl). pose proof (sum_ge _ _ _ _ Ht Hl). lra.
  - intros e He.
    destruct (sum_near _ _ _ (e / 2) Hs) as (l1 & [Hn1 Hl1] & Ht1); [lra|].
    destruct (sum_near _ _ _ (e / 2) Ht) as (l2 & [Hn2 Hl2] & Ht2); [lra|].
    destruct (split_by (fun a => In a l1) l2) as (l0 & l3 & _ & HN & _ & H3).
    assert (Hn : NoDup (l1 ++ l3)).
    { destruct (HN Hn2) as [_ Hn3]. assert (Hd : forall a, In a l1 -> ~ In a l3) by (intros a Ha Hi; apply H3 in Hi; tauto).
      clear - Hn1 Hn3 Hd. induction l1 as [|a l1 IH]; simpl; trivial. inversion_clear Hn1. constructor.
      - intros Hi. apply in_app_or in Hi. destruct Hi; [tauto|]. apply (Hd a); simpl; tauto.
      - apply IH; trivial. intros b Hb. apply Hd. right; trivial. }
    exists (l1 ++ l3). split.
    + split; trivial. intros a Ha. apply in_app_or in Ha. destruct Ha as [Ha|Ha]; auto. apply H3 in Ha. apply Hl2; tauto.
    + rewrite total_plus.
      assert (total f l1 <= total f (l1 ++ l3)) by (apply total_incl; trivial; intros ? ?; apply in_or_app; tauto).
      assert (total g l2 <= total g (l1 ++ l3)).
      { apply total_incl; trivial. intros a Ha. apply in_or_app. destruct (classic (In a l1)); [tauto|].
        right. apply H3; tauto. }
      lra.
Qed.

End Sums.

(** Finitely many sums may be exchanged with one infinite sum. *)
Lemma sum_total {A B} (f : A -> B -> R) (s : A -> R) (Z : B -> Prop) l : (forall a b, 0 <= f a b) ->
  (forall a, sum_over Z (f a) (s a)) -> sum_over Z (fun b => total (fun a => f a b) l) (total s l).
Proof.
  intros Hf H. induction l as [|a l IH]; simpl.
  - apply sum_intro.
    + intros m _. rewrite (total_ext _ (fun _ => 0 * 0)) by (intros; lra). rewrite total_scal. lra.
    + intros e He. exists []. split; [apply within_nil | simpl; lra].
  - apply sum_plus; trivial. intros b. apply total_nonneg. intros; apply Hf.
Qed.

(** Tonelli's theorem: a sum over pairs is a sum of sums. *)
Lemma tonelli {A B} (Z : A * B -> Prop) (f : A * B -> R) (s : A -> R) S : (forall x, 0 <= f x) ->
  (forall a, sum_over (fun b => Z (a, b)) (fun b => f (a, b)) (s a)) ->
  (sum_over Z f S <-> sum_over everything s S).
Proof.
  intros Hf Hs.
  assert (Up : forall la, NoDup la -> forall l, within Z l -> (forall x, In x l -> In (fst x) la) ->
               total f l <= total s la).
  { intros la Hla. induction la as [|a la IH]; intros l [Hn Hl] Hfst.
    - destruct l as [|x l]; simpl; [lra|]. destruct (Hfst x); left; trivial.
    - inversion_clear Hla as [|? ? Ha Hla'].
      destruct (split_by (fun x => fst x = a) l) as (l1 & l2 & Ht & HN & H1 & H2). rewrite Ht. simpl.
      assert (total f l2 <= total s la).
      { apply IH; trivial.
        - split; [tauto|]. intros x Hx. apply Hl, H2; trivial.
        - intros x Hx. apply H2 in Hx. destruct (Hfst x); [tauto| |trivial]. symmetry in H. tauto. }
      assert (total f l1 <= s a).
      { assert (E : total f l1 = total (fun b => f (a, b)) (map snd l1)).
        { assert (HE : forall x, In x l1 -> fst x = a) by (intros; apply H1; trivial).
          clear - HE. induction l1 as [|[a' b] l1 IH]; simpl; trivial.
          assert (a' = a) as -> by (apply (HE (a', b)); left; trivial). rewrite IH; trivial. intros; apply HE; right; trivial. }
        rewrite E. eapply sum_ge; [apply Hs|]. split.
        - destruct (HN Hn) as [HN1 _].
          assert (HE : forall x, In x l1 -> fst x = a) by (intros; apply H1; trivial). clear - HN1 HE.
          induction l1 as [|[a' b] l1 IH]; simpl; [constructor|]. inversion_clear HN1. constructor.
          + intros Hi. apply in_map_iff in Hi. destruct Hi as ([a'' b'] & E & Hi). simpl in E. subst b'.
            assert (a' = a) as -> by (apply (HE (a', b)); left; trivial).
            assert (a'' = a) as -> by (apply (HE (a'', b)); right; trivial). tauto.
          + apply IH; trivial. intros; apply HE; right; trivial.
        - intros b Hb. apply in_map_iff in Hb. destruct Hb as ([a' b'] & E' & Hi). simpl in E'. subst b'.
          apply H1 in Hi. destruct Hi as [Hi Ea]. simpl in Ea. subst a'. apply Hl; trivial. }
      lra. }
  assert (Up' : forall l, within Z l -> exists la, within everything la /\ total f l <= total s la).
  { intros l Hl. assert (exists la, NoDup la /\ forall a, In a la <-> In a (map fst l)) as (la & Hn & Hi).
    { generalize (map fst l). clear. intros m. induction m as [|a m (la & Hn & Hi)].
      - exists []. split; [constructor | tauto].
      - destruct (classic (In a la)) as [Ha|Ha]; [exists la | exists (a :: la)]; split; trivial.
        + intros b. simpl. rewrite Hi. split; [tauto|]. intros [<-|]; trivial. apply Hi; trivial.
        + constructor; trivial.
        + intros b. simpl. rewrite Hi. tauto. }
    exists la. split; [split; trivial; intros; exact I|]. apply Up; trivial.
    intros x Hx. apply Hi, in_map; trivial. }
  assert (Lo : forall la, NoDup la -> forall e, 0 < e -> exists l, within Z l /\ (forall x, In x l -> In (fst x) la) /\
               total s la - e <= total f l).
  { intros la. induction la as [|a la IH]; intros Hla e He.
    - exists []. split; [apply within_nil|]. split; simpl; [tauto | lra].
    - inversion_clear Hla as [|? ? Ha Hla'].
      destruct (IH Hla' (e / 2)) as (l & [Hn Hl] & Hfst & Ht); [lra|].
      destruct (sum_near _ _ _ (e / 2) (Hs a)) as (bs & [Hnb Hb] & Htb); [lra|].
      exists (map (pair a) bs ++ l). split; [split|split].
      + assert (Hd : forall b, ~ In (a, b) l) by (intros b Hi; apply Ha, (Hfst (a, b)); trivial).
        clear - Hnb Hn Hd. induction bs as [|b bs IH]; simpl; trivial. inversion_clear Hnb. constructor; auto.
        intros Hi. apply in_app_or in Hi. destruct Hi as [Hi|Hi]; [|apply (Hd b); trivial].
        apply in_map_iff in Hi. destruct Hi as (b' & E & Hi). inversion E; subst. tauto.
      + intros x Hx. apply in_app_or in Hx. destruct Hx as [Hx|Hx]; [|auto].
        apply in_map_iff in Hx. destruct Hx as (b & <- & Hi). auto.
      + intros x Hx. apply in_app_or in Hx. destruct Hx as [Hx|Hx]; [|right; auto].
        apply in_map_iff in Hx. destruct Hx as (b & <- & Hi). left; trivial.
      + rewrite total_app. simpl.
        assert (E : total f (map (pair a) bs) = total (fun b => f (a, b)) bs) by (clear; induction bs; simpl; lra).
        lra. }
  split; intros H.
  - apply sum_intro.
    + intros la [Hn _]. apply Rnot_lt_le. intros Hlt.
      destruct (Lo la Hn ((total s la - S) / 2)) as (l & Hl & _ & Ht); [lra|].
      pose proof (sum_ge _ _ _ _ H Hl). lra.
    + intros e He. destruct (sum_near _ _ _ e H He) as (l & Hl & Ht).
      destruct (Up' l Hl) as (la & Hla & Hle). exists la. split; trivial. lra.
  - apply sum_intro.
    + intros l Hl. destruct (Up' l Hl) as (la & Hla & Hle). pose proof (sum_ge _ _ _ _ H Hla). lra.
    + intros e He. destruct (sum_near _ _ _ (e / 2) H) as (la & [Hn _] & Ht); [lra|].
      destruct (Lo la Hn (e / 2)) as (l & Hl & _ & Hle); [lra|]. exists l. split; trivial. lra.
Qed.

(** The sum over a set that [h] lists without repeats. *)
Lemma sum_image {A B} (h : B -> A) (Y : B -> Prop) (Z : A -> Prop) (f : A -> R) s :
  (forall b b', Y b -> Y b' -> h b = h b' -> b = b') -> (forall a, Z a <-> exists b, Y b /\ h b = a) ->
  (sum_over Y (fun b => f (h b)) s <-> sum_over Z f s).
Proof.
  intros Hinj HZ.
  assert (E : forall l, total f (map h l) = total (fun b => f (h b)) l) by (intros l; induction l; simpl; lra).
  assert (Fwd : forall l, within Y l -> within Z (map h l)).
  { intros l [Hn Hl]. split.
    - induction l as [|b l IH]; simpl; [constructor|]. inversion_clear Hn. constructor.
      + intros Hi. apply in_map_iff in Hi. destruct Hi as (b' & E' & Hi).
        apply Hinj in E'; [subst; tauto | apply Hl; right; trivial | apply Hl; left; trivial].
      + apply IH; trivial. intros; apply Hl; right; trivial.
    - intros a Ha. apply in_map_iff in Ha. destruct Ha as (b & <- & Hi). apply HZ. eauto. }
  assert (Bwd : forall l, within Z l -> exists m, within Y m /\ map h m = l).
  { intros l. induction l as [|a l IH]; intros [Hn Hl].
    - exists []. split; trivial. apply within_nil.
    - inversion_clear Hn as [|? ? Ha Hn']. destruct IH as (m & [Hm HY] & Em).
      { split; trivial. intros; apply Hl; right; trivial. }
      destruct (proj1 (HZ a)) as (b & Hb & Eb); [apply Hl; left; trivial|].
      exists (b :: m). simpl. rewrite Em, Eb. split; trivial. split.
      + constructor; trivial. intros Hi. apply Ha. rewrite <- Em, <- Eb. apply in_map; trivial.
      + intros b' [<-|Hi]; auto. }
  split; intros H; apply sum_intro.
  - intros l Hl. destruct (Bwd l Hl) as (m & Hm & <-). rewrite E. eapply sum_ge; eauto.
  - intros e He. destruct (sum_near _ _ _ e H He) as (m & Hm & Ht). exists (map h m). rewrite E. split; auto. lra.
  - intros m Hm. rewrite <- E. eapply sum_ge; eauto.
  - intros e He. destruct (sum_near _ _ _ e H He) as (l & Hl & Ht).
    destruct (Bwd l Hl) as (m & Hm & <-). exists m. rewrite <- E. split; trivial. lra.
Qed.

(** ** On the natural numbers, sums are series *)

Lemma total_seq_S f n : total f (seq 0 (S n)) = total f (seq 0 n) + f n.
Proof. rewrite seq_S, total_app. simpl. lra. Qed.

Lemma total_seq_series f n : total f (seq 0 (S n)) = sum_f_R0 f n.
Proof. induction n; [simpl; lra|]. rewrite total_seq_S, IHn. reflexivity. Qed.

Theorem sum_is_series (f : nat -> R) s : (forall n, 0 <= f n) -> (infinite_sum f s <-> sum_over everything f s).
Proof.
  intros Hf.
  assert (Hin : forall l : list nat, exists n, incl l (seq 0 (S n))).
  { intros l. induction l as [|a l (n & Hn)]; [exists 0%nat; intros ? []|].
    exists (Nat.max a n). intros b [<-|Hb]; apply in_seq; [lia|]. specialize (Hn b Hb). apply in_seq in Hn. lia. }
  assert (Hw : forall n, within everything (seq 0 n)) by (intros n; split; [apply seq_NoDup | intros; exact I]).
  assert (Hmono : forall n m, (n <= m)%nat -> sum_f_R0 f n <= sum_f_R0 f m).
  { intros n m H. induction H; simpl; [lra|]. specialize (Hf (S m)). lra. }
  split; intros H.
  - apply sum_intro.
    + intros l [Hn _]. destruct (Hin l) as (n & Hi).
      apply Rle_trans with (total f (seq 0 (S n))); [apply total_incl; trivial|]. rewrite total_seq_series.
      apply Rnot_lt_le. intros Hlt. destruct (H (sum_f_R0 f n - s)) as (N & HN); [lra|].
      specialize (HN (Nat.max n N) ltac:(lia)). unfold R_dist in HN. apply Rabs_def2 in HN.
      pose proof (Hmono n (Nat.max n N) ltac:(lia)). lra.
    + intros e He. destruct (H e He) as (N & HN). specialize (HN N (Nat.le_refl N)).
      unfold R_dist in HN. apply Rabs_def2 in HN. exists (seq 0 (S N)). split; trivial. rewrite total_seq_series. lra.
  - intros e He. destruct (sum_near _ _ _ e H He) as (l & [Hn _] & Ht). destruct (Hin l) as (N & Hi).
    exists N. intros n HnN. unfold R_dist. apply Rabs_def1.
    + assert (sum_f_R0 f n <= s); [|lra]. rewrite <- total_seq_series. eapply sum_ge; eauto.
    + assert (total f l <= sum_f_R0 f N) by (rewrite <- total_seq_series; apply total_incl; trivial).
      pose proof (Hmono N n HnN). lra.
Qed.

(** The geometric series from its [j]-th term on. *)
Lemma sum_geometric q j : 0 <= q < 1 -> sum_over everything (fun n => q ^ (j + n)) (q ^ j / (1 - q)).
Proof.
  intros Hq. apply sum_is_series; [intros; apply pow_le; lra|].
  intros e He.
  assert (Hp : 0 <= q ^ j <= 1).
  { split; [apply pow_le; lra|]. rewrite <- (pow1 j). apply pow_incr. lra. }
  destruct (pow_lt_1_zero q) with (y := e * (1 - q)) as (N & HN).
  { rewrite Rabs_pos_eq; lra. } { apply Rmult_lt_0_compat; lra. }
  exists N. intros n Hn. unfold R_dist.
  assert (E : sum_f_R0 (fun n => q ^ (j + n)) n = q ^ j * ((1 - q ^ S n) / (1 - q))).
  { rewrite <- tech3 by lra. induction n; simpl; rewrite ?pow_add; [simpl; lra|].
    clear. induction n; simpl in *; rewrite ?pow_add in *; simpl; [lra|]. lra. }
  rewrite E. specialize (HN (S n) ltac:(lia)). assert (0 <= q ^ S n) by (apply pow_le; lra).
  rewrite Rabs_pos_eq in HN by trivial.
  replace (_ - _) with (- (q ^ j * q ^ S n / (1 - q))) by (field; lra). rewrite Rabs_Ropp, Rabs_pos_eq.
  - apply Rmult_lt_reg_r with (1 - q); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
    apply Rle_lt_trans with (1 * q ^ S n); [apply Rmult_le_compat_r|]; lra.
  - apply Rmult_le_pos; [apply Rmult_le_pos; lra|]. left. apply Rinv_0_lt_compat. lra.
Qed.
