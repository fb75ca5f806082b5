"""Where the public names are defined: for type checkers, and for `mlaut.helpers.lazy`."""

from mlaut.analysis.scores.contingency import contingency_table as contingency_table
from mlaut.analysis.scores.contingency import cumulative_gain as cumulative_gain
from mlaut.analysis.scores.metrics import LossAbsolute as LossAbsolute
from mlaut.analysis.scores.metrics import LossBrier as LossBrier
from mlaut.analysis.scores.metrics import LossCost as LossCost
from mlaut.analysis.scores.metrics import LossLog as LossLog
from mlaut.analysis.scores.metrics import LossMisclassification as LossMisclassification
from mlaut.analysis.scores.metrics import LossQuantile as LossQuantile
from mlaut.analysis.scores.metrics import LossRMSE as LossRMSE
from mlaut.analysis.scores.metrics import LossSquared as LossSquared
from mlaut.analysis.scores.metrics import ScoreAUC as ScoreAUC
from mlaut.analysis.scores.metrics import ScoreAccuracy as ScoreAccuracy
from mlaut.analysis.scores.metrics import ScoreBalancedAccuracy as ScoreBalancedAccuracy
from mlaut.analysis.scores.metrics import ScoreF1 as ScoreF1
from mlaut.analysis.scores.metrics import ScoreMCC as ScoreMCC
from mlaut.analysis.scores.metrics import ScorePrecision as ScorePrecision
from mlaut.analysis.scores.metrics import ScoreR2 as ScoreR2
from mlaut.analysis.scores.metrics import ScoreSensitivity as ScoreSensitivity
from mlaut.analysis.scores.metrics import ScoreSpecificity as ScoreSpecificity
