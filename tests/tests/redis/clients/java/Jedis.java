// Jedis: takes numbers of `order` as it is told by lines of its input.

import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.InputStreamReader;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManagerFactory;
import redis.clients.jedis.AbstractPipeline;
import redis.clients.jedis.AbstractTransaction;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.RedisProtocol;
import redis.clients.jedis.Response;

public class Jedis {
    public static void main(String[] args) throws Exception {
        var config = DefaultJedisClientConfig.builder()
            .protocol(args[2].equals("3") ? RedisProtocol.RESP3 : RedisProtocol.RESP2);
        if (!args[3].equals("-")) {
            config.password(args[3]);
        }
        if (!args[4].equals("-")) {
            config.ssl(true).sslSocketFactory(trusting(args[4]));
        }
        var address = new HostAndPort(args[0], Integer.parseInt(args[1]));
        var input = new BufferedReader(new InputStreamReader(System.in));
        try (var client = RedisClient.builder().hostAndPort(address).clientConfig(config.build()).build()) {
            for (String line = input.readLine(); line != null; line = input.readLine()) {
                String[] words = line.trim().split(" ");
                try {
                    for (long number : take(client, words)) {
                        System.out.println(number);
                    }
                } catch (Exception error) {
                    System.out.println("! " + error.toString().replace("\n", " "));
                }
                System.out.println(".");
                System.out.flush();
            }
        }
    }

    /** Makes connections to servers whose certificates this authority has signed. */
    private static SSLSocketFactory trusting(String authority) throws Exception {
        var store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null, null);
        try (var file = new FileInputStream(authority)) {
            store.setCertificateEntry("authority", CertificateFactory.getInstance("X.509").generateCertificate(file));
        }
        var trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(store);
        var context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        return context.getSocketFactory();
    }

    private static List<Long> take(RedisClient client, String[] words) {
        if (words[0].equals("one")) {
            return List.of(client.incr("order"));
        }
        int count = Integer.parseInt(words[1]);
        List<Response<Long>> replies = new ArrayList<>();
        if (words[0].equals("pipeline")) {
            try (AbstractPipeline pipeline = client.pipelined()) {
                for (int at = 0; at < count; at++) {
                    replies.add(pipeline.incr("order"));
                }
            }
        } else {
            try (AbstractTransaction transaction = client.multi()) {
                for (int at = 0; at < count; at++) {
                    replies.add(transaction.incr("order"));
                }
                transaction.exec();
            }
        }
        return replies.stream().map(Response::get).toList();
    }
}
