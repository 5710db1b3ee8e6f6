package org.elastane.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ProgressLineTest {
  private static final String LINE =
      "{\"version\":1,\"stages_ended\":1,\"since_ms\":9,"
          + "\"part_ended\":0.250,\"part_begun\":0.500}";

  @Test
  void aLineHasTheStagesAndThePartsInThousandths() {
    assertEquals(
        "{\"version\":1,\"stages_ended\":12,\"since_ms\":4312,"
            + "\"part_ended\":0.437,\"part_begun\":0.620}",
        ProgressLine.of(12, 4312, 437, 620, 1000));
    assertEquals(
        "{\"version\":1,\"stages_ended\":0,\"since_ms\":0,"
            + "\"part_ended\":0.007,\"part_begun\":0.070}",
        ProgressLine.of(0, 0, 7, 70, 1000));
  }

  @Test
  void theTruePartsLieBetweenTheTwo() {
    assertParts("0.999", "1.000", ProgressLine.of(3, 0, 99_998, 99_999, 100_000));
    assertParts("0.333", "0.334", ProgressLine.of(3, 0, 1, 1, 3));
    assertParts("1.000", "1.000", ProgressLine.of(3, 0, 5, 5, 5));
  }

  @Test
  void withoutARunningStageNothingIsKnown() {
    assertParts("0.000", "1.000", ProgressLine.of(3, 0, 0, 0, 0));
  }

  @Test
  void digitsAreThoseOfJsonInEveryLocale() {
    Locale before = Locale.getDefault();
    Locale.setDefault(Locale.forLanguageTag("ar-EG-u-nu-arab"));
    try {
      assertParts("0.500", "0.500", ProgressLine.of(1, 0, 1, 1, 2));
    } finally {
      Locale.setDefault(before);
    }
  }

  @Test
  void aLineOfTheDriverIsAccepted() {
    String line = ProgressLine.of(Integer.MAX_VALUE, Long.MAX_VALUE / 10, 1, 2, 3);
    assertEquals(line, ProgressLine.check(line));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "garbage",
        "{\"version\":1,\"stages_ended\":1}",
        LINE + "\n",
        " " + LINE,
      })
  void anyOtherAnswerIsRefused(String answer) {
    assertThrows(IllegalArgumentException.class, () -> ProgressLine.check(answer));
  }

  @ParameterizedTest
  @CsvSource({
    "version\":1, version\":2",
    "stages_ended\":1, stages_ended\":-1",
    "since_ms\":9, since_ms\":1e9",
    "0.250, 1.250",
    "0.500, 1.500",
  })
  void aLineWithAnotherValueIsRefused(String value, String other) {
    assertEquals(LINE, ProgressLine.check(LINE));
    String changed = LINE.replace(value, other);
    assertNotEquals(LINE, changed);
    assertThrows(IllegalArgumentException.class, () -> ProgressLine.check(changed));
  }

  @Test
  void anAnswerThatIsNoStringIsRefused() {
    assertThrows(IllegalArgumentException.class, () -> ProgressLine.check(null));
    assertThrows(IllegalArgumentException.class, () -> ProgressLine.check(1));
  }

  private static void assertParts(String ended, String begun, String line) {
    String parts = ",\"part_ended\":" + ended + ",\"part_begun\":" + begun + "}";
    assertTrue(line.endsWith(parts), line);
  }
}
