package org.elastane.conf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Arrays;
import java.util.Collections;
import java.util.Locale;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ElastaneConfigurationTest {
  private final Configuration conf = new Configuration();

  @Test
  void observeIsTheDefaultMode() {
    assertEquals(Mode.OBSERVE, ElastaneConfiguration.mode(conf));
  }

  @ParameterizedTest
  @CsvSource({"off,OFF", "observe,OBSERVE", "advise,ADVISE", "' enforce ',ENFORCE"})
  void aModeIsReadByItsName(String value, Mode mode) {
    conf.set(ElastaneConfiguration.MODE, value);
    assertEquals(mode, ElastaneConfiguration.mode(conf));
  }

  @ParameterizedTest
  @ValueSource(strings = {"on", "ENFORCE", ""})
  void aModeThatIsNotAllowedIsNamedWithKeyValueAndWhatIs(String value) {
    conf.set(ElastaneConfiguration.MODE, value);
    ElastaneConfigurationException e =
        assertThrows(ElastaneConfigurationException.class, () -> ElastaneConfiguration.mode(conf));
    assertEquals(
        "yarn.scheduler.elastane.mode is '"
            + value
            + "', allowed is off, observe, advise or enforce",
        e.getMessage());
  }

  @Test
  void aQueueMayBeInObserveAdviseOrEnforce() {
    for (Mode mode : Arrays.asList(Mode.OBSERVE, Mode.ADVISE, Mode.ENFORCE)) {
      String value = " " + mode.name().toLowerCase(Locale.ROOT) + " ";
      conf.set(ElastaneConfiguration.MODE + ".queue.root.a", value);
      assertEquals(
          Collections.singletonMap("root.a", mode), ElastaneConfiguration.queueModes(conf));
    }
  }

  @ParameterizedTest
  @CsvSource({"advise,advise,false", "observe,enforce,true", "enforce,advise,true"})
  void elastaneDecidesWhereEnforceIsSet(String ofCluster, String ofLabel, boolean isDeciding) {
    conf.set(ElastaneConfiguration.MODE, ofCluster);
    conf.set(ElastaneConfiguration.MODE + ".label.gpu", ofLabel);
    assertEquals(isDeciding, ElastaneConfiguration.enforcesAnywhere(conf));
  }

  @ParameterizedTest
  @ValueSource(strings = {"999", "60001", "3s", "-3000"})
  void aReportIntervalOutOfBoundsIsRefused(String value) {
    conf.set(ElastaneConfiguration.REPORT_INTERVAL_MS, value);
    ElastaneConfigurationException e =
        assertThrows(
            ElastaneConfigurationException.class,
            () -> ElastaneConfiguration.reportIntervalMs(conf));
    assertEquals(
        "yarn.nodemanager.elastane.report.interval-ms is '"
            + value
            + "', allowed is a whole number from 1000 to 60000",
        e.getMessage());
  }

  @Test
  void aSharedDirectoryThatIsNotAbsoluteIsRefused() {
    conf.set(ElastaneConfiguration.DEPOSITORY_SHARED, "elastane");
    ElastaneConfigurationException e =
        assertThrows(
            ElastaneConfigurationException.class,
            () -> ElastaneConfiguration.depositoryShared(conf));
    assertEquals(
        "yarn.scheduler.elastane.depository.shared is 'elastane', allowed is an absolute directory,"
            + " such as hdfs:///elastane, or empty",
        e.getMessage());
  }

  @ParameterizedTest
  @CsvSource({
    "hdfs:///elastane,hdfs://nn:8020/elastane",
    "/elastane,hdfs://nn:8020/elastane",
    "hdfs://other/elastane,hdfs://other/elastane",
    "file:///elastane,file:/elastane"
  })
  void aSharedDirectoryIsInTheDefaultFileSystemWhereItNamesNone(String value, String meant) {
    conf.set("fs.defaultFS", "hdfs://nn:8020");
    conf.set(ElastaneConfiguration.DEPOSITORY_SHARED, value);
    assertEquals(meant, ElastaneConfiguration.depositoryShared(conf).toString());
  }

  @ParameterizedTest
  @ValueSource(ints = {1000, 60_000})
  void theBoundsOfTheReportIntervalAreAllowed(int value) {
    conf.setInt(ElastaneConfiguration.REPORT_INTERVAL_MS, value);
    assertEquals(value, ElastaneConfiguration.reportIntervalMs(conf));
  }

  @Test
  void aSocketIsAnAbsolutePath() {
    assertEquals("/run/elastane/agent.sock", ElastaneConfiguration.agentSocket(conf));
    conf.set(ElastaneConfiguration.AGENT_SOCKET, "agent.sock");
    assertThrows(
        ElastaneConfigurationException.class, () -> ElastaneConfiguration.agentSocket(conf));
  }

  @Test
  void theCoreGetsEveryKeyOfItsSideWithVariablesResolvedAndNoOther() throws Exception {
    conf.set("data.directory", "/data \"1\"");
    conf.set("yarn.scheduler.elastane.depository.file", "${data.directory}/runs.sqlite");
    conf.set("yarn.scheduler.elastane.overcommit.max-ratio", "1.5");
    conf.set("yarn.nodemanager.elastane.report.interval-ms", "3000");

    JsonNode settings = new ObjectMapper().readTree(ElastaneConfiguration.settingsJson(conf));

    assertEquals(
        "/data \"1\"/runs.sqlite",
        settings.get("yarn.scheduler.elastane.depository.file").textValue());
    assertEquals("1.5", settings.get("yarn.scheduler.elastane.overcommit.max-ratio").textValue());
    assertFalse(settings.has("yarn.nodemanager.elastane.report.interval-ms"));
  }

  @Test
  void noNodeIsRaisedWhileTheReservationSystemIsOn() throws Exception {
    conf.set("yarn.scheduler.elastane.overcommit.max-ratio", "1.5");
    conf.set("yarn.scheduler.elastane.overcommit.max-ratio.label.gpu", "2");
    conf.setBoolean("yarn.resourcemanager.reservation-system.enable", true);

    JsonNode settings = new ObjectMapper().readTree(ElastaneConfiguration.settingsJson(conf));

    assertEquals("1.0", settings.get("yarn.scheduler.elastane.overcommit.max-ratio").textValue());
    assertFalse(settings.has("yarn.scheduler.elastane.overcommit.max-ratio.label.gpu"));
  }

  @Test
  void theCoresFilesHaveAPlaceByDefault() throws Exception {
    conf.set("hadoop.tmp.dir", "/data/hadoop");

    JsonNode settings = new ObjectMapper().readTree(ElastaneConfiguration.settingsJson(conf));

    assertEquals(3, settings.size());
    assertEquals(
        "/data/hadoop/elastane/observe",
        settings.get("yarn.scheduler.elastane.observe.file").textValue());
    assertEquals(
        "/data/hadoop/elastane/depository.sqlite",
        settings.get("yarn.scheduler.elastane.depository.file").textValue());
    assertEquals(
        "/data/hadoop/elastane/decisions.jsonl",
        settings.get("yarn.scheduler.elastane.journal.file").textValue());
  }

  @Test
  void anEmptyJournalStaysEmpty() throws Exception {
    conf.set("yarn.scheduler.elastane.journal.file", "");

    JsonNode settings = new ObjectMapper().readTree(ElastaneConfiguration.settingsJson(conf));

    assertEquals("", settings.get("yarn.scheduler.elastane.journal.file").textValue());
  }

  @Test
  void anObserveFileThatNobodyNamedRefusesNoStart() {
    conf.set("hadoop.tmp.dir", "file:/data/hadoop");
    Configuration ours = ElastaneConfiguration.ours(conf);

    assertEquals(
        "file:/data/hadoop/elastane/observe", ElastaneConfiguration.observeFile(ours).toString());

    ours.set(ElastaneConfiguration.OBSERVE_FILE, "observe");
    assertThrows(
        ElastaneConfigurationException.class, () -> ElastaneConfiguration.observeFile(ours));
  }
}
