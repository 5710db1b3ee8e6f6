package org.elastane.node;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.apache.hadoop.yarn.server.nodemanager.containermanager.container.ContainerState;
import org.junit.jupiter.api.Test;

class ElastaneContainerListenerTest {
  @Test
  void aChangeOfStateWakesTheServiceAndAnythingElseDoesNot() throws InterruptedException {
    ElastaneContainerListener listener = new ElastaneContainerListener();
    ElastaneContainerListener.CHANGES.await(0);

    listener.postTransition(null, ContainerState.RUNNING, ContainerState.RUNNING, null);
    assertFalse(ElastaneContainerListener.CHANGES.await(0));

    listener.postTransition(null, ContainerState.SCHEDULED, ContainerState.RUNNING, null);
    assertTrue(ElastaneContainerListener.CHANGES.await(0));
  }
}
