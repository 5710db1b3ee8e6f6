package org.elastane.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ProgressLineTest {
  @Test
  void aLineHasTheStagesAndThePartInThousandths() {
    assertEquals(
        "{\"version\":1,\"stages_ended\":12,\"part\":0.437}", ProgressLine.of(12, 437, 1000));
    assertEquals("{\"version\":1,\"stages_ended\":0,\"part\":0.007}", ProgressLine.of(0, 7, 1000));
  }

  @Test
  void thePartIsOneOnlyOnceEveryTaskHasEnded() {
    assertEquals(
        "{\"version\":1,\"stages_ended\":3,\"part\":0.999}", ProgressLine.of(3, 99_999, 100_000));
    assertEquals("{\"version\":1,\"stages_ended\":3,\"part\":1.000}", ProgressLine.of(3, 5, 5));
  }

  @Test
  void withoutARunningStageThePartIsZero() {
    assertEquals("{\"version\":1,\"stages_ended\":3,\"part\":0.000}", ProgressLine.of(3, 0, 0));
  }

  @Test
  void digitsAreThoseOfJsonInEveryLocale() {
    Locale before = Locale.getDefault();
    Locale.setDefault(Locale.forLanguageTag("ar-EG-u-nu-arab"));
    try {
      assertEquals("{\"version\":1,\"stages_ended\":1,\"part\":0.500}", ProgressLine.of(1, 1, 2));
    } finally {
      Locale.setDefault(before);
    }
  }

  @Test
  void aLineOfTheDriverIsAccepted() {
    String line = ProgressLine.of(Integer.MAX_VALUE, 1, 3);
    assertEquals(line, ProgressLine.check(line));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "garbage",
        "{\"version\":2,\"stages_ended\":1,\"part\":0.500}",
        "{\"version\":1,\"stages_ended\":-1,\"part\":0.500}",
        "{\"version\":1,\"stages_ended\":1,\"part\":1.500}",
        "{\"version\":1,\"stages_ended\":1,\"part\":0.500}\n",
      })
  void anyOtherAnswerIsRefused(String answer) {
    assertThrows(IllegalArgumentException.class, () -> ProgressLine.check(answer));
  }

  @Test
  void anAnswerThatIsNoStringIsRefused() {
    assertThrows(IllegalArgumentException.class, () -> ProgressLine.check(null));
    assertThrows(IllegalArgumentException.class, () -> ProgressLine.check(1));
  }
}
