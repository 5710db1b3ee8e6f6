package org.elastane.hadooptests;

import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Skips what tests with a parameter for the scheduler do with FairScheduler. */
public final class NoFairScheduler implements ExecutionCondition {
  private static final String PARAMETER = "FAIR";

  @Override
  public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
    return context.getDisplayName().endsWith(PARAMETER)
        ? ConditionEvaluationResult.disabled("FairScheduler, which Elastane does not replace")
        : ConditionEvaluationResult.enabled(null);
  }
}
