// go-redis: takes numbers of `order` as it is told by lines of its input.
package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

func main() {
	protocol, _ := strconv.Atoi(os.Args[3])
	options := &redis.Options{Addr: os.Args[1] + ":" + os.Args[2], Protocol: protocol}
	if os.Args[4] != "-" {
		options.Password = os.Args[4]
	}
	if os.Args[5] != "-" {
		authority, err := os.ReadFile(os.Args[5])
		if err != nil {
			panic(err)
		}
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM(authority)
		options.TLSConfig = &tls.Config{RootCAs: pool, ServerName: os.Args[1]}
	}
	client, ctx := redis.NewClient(options), context.Background()
	lines, out := bufio.NewScanner(os.Stdin), bufio.NewWriter(os.Stdout)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		numbers, err := take(ctx, client, words)
		if err != nil {
			fmt.Fprintln(out, "!", strings.ReplaceAll(err.Error(), "\n", " "))
		}
		for _, number := range numbers {
			fmt.Fprintln(out, number)
		}
		fmt.Fprintln(out, ".")
		out.Flush()
	}
}

func take(ctx context.Context, client *redis.Client, words []string) ([]int64, error) {
	if words[0] == "one" {
		number, err := client.Incr(ctx, "order").Result()
		if err != nil {
			return nil, err
		}
		return []int64{number}, nil
	}
	count, _ := strconv.Atoi(words[1])
	fill := func(pipe redis.Pipeliner) error {
		for range count {
			pipe.Incr(ctx, "order")
		}
		return nil
	}
	run := client.Pipelined
	if words[0] == "transaction" {
		run = client.TxPipelined
	}
	replies, err := run(ctx, fill)
	if err != nil {
		return nil, err
	}
	numbers := make([]int64, 0, count)
	for _, reply := range replies {
		numbers = append(numbers, reply.(*redis.IntCmd).Val())
	}
	return numbers, nil
}
