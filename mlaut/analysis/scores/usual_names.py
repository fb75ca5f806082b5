"""Names and abbreviations by which other people's tables call metrics, and what they mean."""

import re
from dataclasses import dataclass
from functools import lru_cache

# name: whether more is better, and its other names; "_" stands for any sign between words
_NAMES: dict[str, tuple[bool, str]] = {
    "accuracy": (True, "acc accuracies accuracy_score test_accuracy top_1_accuracy correct"),
    "acc1": (True, "top1 top_1 acc_1 top_1_acc top1_acc acc_top1"),
    "acc5": (True, "top5 top_5 acc_5 top_5_acc top5_acc acc_top5"),
    "balanced_accuracy": (True, "bacc bac bal_acc balanced_acc balacc mean_per_class_recall"),
    "roc_auc": (True, "auc auroc auc_roc aucroc rocauc roc auc_score area_under_roc"),
    "gauc": (True, "group_auc"),
    "pr_auc": (True, "auprc aupr auc_pr aucpr prauc auc_prc prc"),
    "average_precision": (True, "avg_precision"),
    "f1": (True, "f1_score f_score fscore f_measure f1score f_1 f1_measure"),
    "f1_macro": (True, "macro_f1 maf1 mf1 macro_f1_score f1_score_macro"),
    "f1_micro": (True, "micro_f1 mif1 micro_f1_score"),
    "f1_weighted": (True, "weighted_f1 wf1 f1_score_weighted"),
    "mcc": (True, "matthews_corrcoef matthews phi"),
    "kappa": (True, "cohen_kappa cohens_kappa qwk quadratic_kappa"),
    "precision": (True, "prec ppv precision_score"),
    "recall": (True, "sensitivity tpr rec recall_score"),
    "specificity": (True, "tnr spec"),
    "r2": (True, "r_2 r2_score r_squared rsquared r_sq coefficient_of_determination"),
    "spearman": (True, "spearmanr spearman_rho srcc srocc rho spearman_correlation spearman_corr"),
    "pearson": (True, "pearsonr plcc pcc pearson_correlation pearson_r pearson_corr"),
    "kendall": (True, "kendalltau kendall_tau krcc"),
    "correlation": (True, "corr cor cc"),
    "ndcg": (True, ""),
    "map": (True, "mean_average_precision mean_ap map50 map_50 map50_95 map_50_95"),
    "ap": (True, "ap50 ap_50 ap75 box_ap mask_ap"),
    "mrr": (True, "mean_reciprocal_rank"),
    "hit_rate": (True, "hr hit hits hitrate"),
    "iou": (True, "miou mean_iou jaccard m_iou"),
    "dice": (True, "dsc mdice dice_score mean_dice"),
    "bleu": (True, "sacrebleu bleu4 bleu_4"),
    "rouge": (True, "rouge1 rouge_1 rouge2 rouge_2 rougel rouge_l"),
    "meteor": (True, ""),
    "chrf": (True, ""),
    "bertscore": (True, "bert_score"),
    "exact_match": (True, "em"),
    "pass": (True, "pass_1"),
    "success_rate": (True, "success sr solve_rate solved win_rate winrate completion_rate"),
    "reward": (
        True,
        "mean_reward return returns episode_reward average_return episodic_return mean_return "
        "avg_reward final_reward",
    ),
    "psnr": (True, ""),
    "ssim": (True, "ms_ssim"),
    "nmi": (True, "normalized_mutual_info_score"),
    "ari": (True, "adjusted_rand_score adjusted_rand"),
    "c_index": (True, "cindex concordance concordance_index harrell_c"),
    "nse": (True, "nash_sutcliffe nash_sutcliffe_efficiency"),
    "kge": (True, "kling_gupta kling_gupta_efficiency"),
    "coverage": (True, ""),
    "elo": (True, "elo_rating"),
    "error": (
        False,
        "error_rate err top_1_err top1_err top_1_error top1_error misclassification_error "
        "test_error mmce classification_error",
    ),
    "mr": (False, "mean_rank amr"),
    "top5_error": (False, "top_5_error top5_err top_5_err"),
    "log_loss": (False, "logloss cross_entropy crossentropy ce binary_crossentropy bce"),
    "nll": (False, "negative_log_likelihood"),
    "loss": (False, "losses"),
    "rmse": (False, "root_mean_squared_error rmses"),
    "nrmse": (False, ""),
    "rmsle": (False, ""),
    "mse": (False, "mean_squared_error"),
    "mae": (False, "mean_absolute_error"),
    "mape": (False, "mean_absolute_percentage_error"),
    "smape": (False, ""),
    "mase": (False, ""),
    "wape": (False, ""),
    "owa": (False, ""),
    "crps": (False, "wql mean_weighted_quantile_loss"),
    "perplexity": (False, "ppl"),
    "bpc": (False, "bpb bits_per_byte"),
    "wer": (False, "word_error_rate"),
    "cer": (False, "character_error_rate"),
    "eer": (False, "equal_error_rate"),
    "der": (False, ""),
    "ter": (False, ""),
    "fid": (False, "kid"),
    "lpips": (False, ""),
    "ece": (False, "calibration_error expected_calibration_error"),
    "brier": (False, "brier_score"),
    "regret": (False, "simple_regret"),
    "fpr": (False, "false_positive_rate fpr95 fpr_95"),
    "hausdorff": (False, "hd95 hd"),
    "chamfer": (False, "chamfer_distance"),
    "epe": (False, "aee"),
    "makespan": (False, ""),
    "gap": (False, "optimality_gap"),
    "seconds": (
        False,
        "time times secs sec ms milliseconds duration elapsed latency runtime run_time total_time "
        "running_time execution_time wall_time walltime wall_clock cpu_time",
    ),
}
_PARTS = {"test": "test", "holdout": "test", "heldout": "test", "eval": "test", "oos": "test"}
_PARTS |= {"val": "val", "valid": "val", "validation": "val", "dev": "val", "cv": "val"}
_PARTS |= {"train": "train", "training": "train", "insample": "train"}
_FILLERS = (
    *("normalized", "mean", "avg", "average", "final", "overall", "median", "score", "best"),
    *("global", "metric", "metrics"),
)
_KNOWN = {name: name for name in _NAMES}
_KNOWN |= {alias: name for name, (_, text) in _NAMES.items() for alias in text.split()}


@dataclass(frozen=True)
class UsualName:
    """Metric that a name stands for.

    Attributes
    ----------
    metric : str
        Its usual name, with the number behind ``@``, as ``"recall@20"``.
    greater : bool
        Whether more is better.
    part : str
        ``"test"``, ``"val"``, ``"train"``, or empty.
    """

    metric: str
    greater: bool
    part: str = ""


def part_of(name: str) -> str:
    """Return the part of the data, as "test", in the name of a metric; empty without one."""
    usual = usual_name(name)
    return "" if usual is None else usual.part


@lru_cache(maxsize=4096)
def usual_name(name: str) -> UsualName | None:
    """Return the metric that a name stands for; None if no usual metric is called so.

    Examples
    --------
    >>> usual_name("Test AUROC (%)"), usual_name("recall@20").metric, usual_name("forest")
    (UsualName(metric='roc_auc', greater=True, part='test'), 'recall@20', None)
    >>> usual_name("val_loss").part, usual_name("neg_rmse").greater, usual_name("1 - accuracy")
    ('val', True, None)
    """
    text = re.sub(r"[\s(\[]*[%↑↓][\s)\]]*$|\([^()]*\)\s*$", "", name.strip().lower())
    text = re.sub(r"[↑↓%$\\^{}*]", "", text).strip()
    text = re.sub(r"^(?:r|rec)(?=@)", "recall", re.sub(r"^p(?:rec)?(?=@)", "precision", text))
    at = re.search(r"@\s*(\d+(?:\.\d+)?)\s*", text)
    if at:
        text = text[: at.start()] + " " + text[at.end() :]
    words = [word for word in re.split(r"[\s_./:\-]+", text) if word]
    negative = words[:1] in (["neg"], ["negative"])
    words = words[negative:]
    parts = [_PARTS[word] for word in words if word in _PARTS]
    if parts and "_".join(words) not in _KNOWN:
        words = [word for word in words if word not in _PARTS]
    whole = "_".join(words)
    for candidate in (words, [word for word in words if word not in _FILLERS]):
        for joined in ("_".join(candidate), "".join(candidate)):
            if joined in _KNOWN:
                metric = _KNOWN[joined]
                greater = _NAMES[metric][0]
                part = parts[0] if parts else "test" * whole.startswith("test_")
                shown = ("neg_" if negative else "") + metric + (f"@{at[1]}" if at else "")
                return UsualName(shown, greater != negative, part)
    return None
