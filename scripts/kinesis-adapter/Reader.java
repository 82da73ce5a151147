// Writes to a table and reads its stream by the Kinesis Client Library, as an application with that library would: leases in a
// table of the same server, no metrics.
//
//   java -cp CLASSES Reader ENDPOINT SECONDS
//
// Each item has a counter that grows by one with each write. A record that was lost, came twice or out of order shows in it.
import com.amazonaws.services.dynamodbv2.streamsadapter.AmazonDynamoDBStreamsAdapterClient;
import com.amazonaws.services.dynamodbv2.streamsadapter.StreamsSchedulerFactory;
import com.amazonaws.services.dynamodbv2.streamsadapter.model.DynamoDBStreamsProcessRecordsInput;
import com.amazonaws.services.dynamodbv2.streamsadapter.polling.DynamoDBStreamsPollingConfig;
import com.amazonaws.services.dynamodbv2.streamsadapter.processor.DynamoDBStreamsShardRecordProcessor;
import java.net.URI;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.cloudwatch.CloudWatchAsyncClient;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.BillingMode;
import software.amazon.awssdk.services.dynamodb.model.KeyType;
import software.amazon.awssdk.services.dynamodb.model.ScalarAttributeType;
import software.amazon.awssdk.services.dynamodb.model.StreamViewType;
import software.amazon.awssdk.services.dynamodb.streams.DynamoDbStreamsClient;
import software.amazon.kinesis.common.ConfigsBuilder;
import software.amazon.kinesis.common.InitialPositionInStream;
import software.amazon.kinesis.common.InitialPositionInStreamExtended;
import software.amazon.kinesis.coordinator.CoordinatorConfig;
import software.amazon.kinesis.exceptions.InvalidStateException;
import software.amazon.kinesis.exceptions.ShutdownException;
import software.amazon.kinesis.lifecycle.events.InitializationInput;
import software.amazon.kinesis.lifecycle.events.LeaseLostInput;
import software.amazon.kinesis.lifecycle.events.ShardEndedInput;
import software.amazon.kinesis.lifecycle.events.ShutdownRequestedInput;
import software.amazon.kinesis.metrics.MetricsLevel;
import software.amazon.kinesis.metrics.NullMetricsFactory;
import software.amazon.kinesis.processor.RecordProcessorCheckpointer;

public class Reader {
  static final String TABLE = "Orders";
  static final int ITEMS = 20;
  static final int WRITE_EVERY_MS = 50;
  static final int LOOK_MS = 500;
  static final int LOOKS_MAX = 240;

  static final Map<String, Integer> lastOfItem = new ConcurrentHashMap<>();
  static final Set<String> begun = ConcurrentHashMap.newKeySet();
  static final Set<String> ended = ConcurrentHashMap.newKeySet();
  static final AtomicInteger read = new AtomicInteger();
  static final AtomicInteger lost = new AtomicInteger();
  static final AtomicInteger repeated = new AtomicInteger();

  static class Processor implements DynamoDBStreamsShardRecordProcessor {
    private String shard;

    @Override
    public void initialize(InitializationInput input) {
      shard = input.shardId();
      begun.add(shard);
    }

    @Override
    public void processRecords(DynamoDBStreamsProcessRecordsInput input) {
      for (var each : input.records()) {
        var image = each.getRecord().dynamodb().newImage();
        String id = image.get("id").s();
        int count = Integer.parseInt(image.get("count").n());
        int before = lastOfItem.getOrDefault(id, 0);
        if (count <= before) repeated.incrementAndGet();
        if (count > before + 1) lost.incrementAndGet();
        lastOfItem.put(id, count);
        read.incrementAndGet();
      }
      if (!input.records().isEmpty()) checkpoint(input.checkpointer());
    }

    @Override
    public void leaseLost(LeaseLostInput input) {}

    @Override
    public void shardEnded(ShardEndedInput input) {
      ended.add(shard);
      checkpoint(input.checkpointer());
    }

    @Override
    public void shutdownRequested(ShutdownRequestedInput input) {
      checkpoint(input.checkpointer());
    }

    private static void checkpoint(RecordProcessorCheckpointer checkpointer) {
      try {
        checkpointer.checkpoint();
      } catch (InvalidStateException | ShutdownException error) {
        throw new IllegalStateException(error);
      }
    }
  }

  public static void main(String[] args) throws Exception {
    URI endpoint = URI.create(args[0]);
    long endMs = System.currentTimeMillis() + Integer.parseInt(args[1]) * 1000L;
    Region region = Region.US_EAST_1;
    var keys = StaticCredentialsProvider.create(AwsBasicCredentials.create("key", "secret"));
    var data = DynamoDbAsyncClient.builder().endpointOverride(endpoint).credentialsProvider(keys).region(region).build();
    var streams = DynamoDbStreamsClient.builder().endpointOverride(endpoint).credentialsProvider(keys).region(region).build();
    var unused = CloudWatchAsyncClient.builder().endpointOverride(endpoint).credentialsProvider(keys).region(region).build();

    String arn =
        data.createTable(
                table ->
                    table
                        .tableName(TABLE)
                        .billingMode(BillingMode.PAY_PER_REQUEST)
                        .attributeDefinitions(each -> each.attributeName("id").attributeType(ScalarAttributeType.S))
                        .keySchema(each -> each.attributeName("id").keyType(KeyType.HASH))
                        .streamSpecification(
                            stream -> stream.streamEnabled(true).streamViewType(StreamViewType.NEW_AND_OLD_IMAGES)))
            .get()
            .tableDescription()
            .latestStreamArn();

    var adapter = new AmazonDynamoDBStreamsAdapterClient(streams, region);
    var fromStart = InitialPositionInStreamExtended.newInitialPosition(InitialPositionInStream.TRIM_HORIZON);
    var tracker = StreamsSchedulerFactory.createSingleStreamTracker(arn, fromStart);
    var configs = new ConfigsBuilder(tracker, "seriatim-reader", adapter, data, unused, "worker", Processor::new);
    var polling = new DynamoDBStreamsPollingConfig(adapter).idleTimeBetweenReadsInMillis(LOOK_MS);
    var scheduler =
        StreamsSchedulerFactory.createScheduler(
            configs.checkpointConfig(),
            configs.coordinatorConfig().clientVersionConfig(CoordinatorConfig.ClientVersionConfig.CLIENT_VERSION_CONFIG_3X),
            configs.leaseManagementConfig().shardSyncIntervalMillis(2000),
            configs.lifecycleConfig(),
            configs.metricsConfig().metricsLevel(MetricsLevel.NONE).metricsFactory(new NullMetricsFactory()),
            configs.processorConfig(),
            configs.retrievalConfig().retrievalSpecificConfig(polling),
            adapter);
    var worker = new Thread(scheduler);
    worker.setDaemon(true);
    worker.start();

    int written = 0;
    for (; System.currentTimeMillis() < endMs; written++) {
      String id = String.valueOf(written % ITEMS);
      String count = String.valueOf(written / ITEMS + 1);
      var item = Map.of("id", AttributeValue.fromS(id), "count", AttributeValue.fromN(count));
      data.putItem(put -> put.tableName(TABLE).item(item)).get();
      Thread.sleep(WRITE_EVERY_MS);
    }
    for (int looks = 0; looks < LOOKS_MAX && read.get() < written; looks++) Thread.sleep(LOOK_MS);
    System.out.printf(
        "written %d, read %d, lost or out of order %s, repeated %s, shards begun %d, ended %d%n",
        written, read.get(), lost, repeated, begun.size(), ended.size());
    boolean isRight = read.get() == written && lost.get() == 0 && repeated.get() == 0 && ended.size() > 0;
    System.exit(isRight ? 0 : 1);
  }
}
