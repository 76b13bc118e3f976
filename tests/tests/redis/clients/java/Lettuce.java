// Lettuce: takes numbers of `order` as it is told by lines of its input.

import io.lettuce.core.ClientOptions;
import io.lettuce.core.LettuceFutures;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SslOptions;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.protocol.ProtocolVersion;
import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

public class Lettuce {
    public static void main(String[] args) throws Exception {
        var address = RedisURI.builder().withHost(args[0]).withPort(Integer.parseInt(args[1]));
        if (!args[3].equals("-")) {
            address.withPassword(args[3].toCharArray());
        }
        var options = ClientOptions.builder()
            .protocolVersion(args[2].equals("3") ? ProtocolVersion.RESP3 : ProtocolVersion.RESP2);
        if (!args[4].equals("-")) {
            address.withSsl(true);
            options.sslOptions(SslOptions.builder().trustManager(new File(args[4])).build());
        }
        RedisClient client = RedisClient.create(address.build());
        client.setOptions(options.build());
        var input = new BufferedReader(new InputStreamReader(System.in));
        try (StatefulRedisConnection<String, String> connection = client.connect()) {
            for (String line = input.readLine(); line != null; line = input.readLine()) {
                String[] words = line.trim().split(" ");
                try {
                    for (long number : take(connection, words)) {
                        System.out.println(number);
                    }
                } catch (Exception error) {
                    System.out.println("! " + error.toString().replace("\n", " "));
                }
                System.out.println(".");
                System.out.flush();
            }
        }
        client.shutdown(Duration.ZERO, Duration.ofSeconds(1));
    }

    private static List<Long> take(StatefulRedisConnection<String, String> connection, String[] words) throws Exception {
        if (words[0].equals("one")) {
            return List.of(connection.sync().incr("order"));
        }
        int count = Integer.parseInt(words[1]);
        var commands = connection.async();
        if (words[0].equals("transaction")) {
            commands.multi();
            for (int at = 0; at < count; at++) {
                commands.incr("order");
            }
            return commands.exec().get().stream().map(number -> (Long) number).toList();
        }
        List<RedisFuture<Long>> replies = new ArrayList<>();
        connection.setAutoFlushCommands(false);
        for (int at = 0; at < count; at++) {
            replies.add(commands.incr("order"));
        }
        connection.flushCommands();
        connection.setAutoFlushCommands(true);
        LettuceFutures.awaitAll(Duration.ofSeconds(30), replies.toArray(new RedisFuture[0]));
        List<Long> numbers = new ArrayList<>();
        for (var reply : replies) {
            numbers.add(reply.get());
        }
        return numbers;
    }
}
