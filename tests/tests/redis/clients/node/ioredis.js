// ioredis: takes numbers of `order` as it is told by lines of its input.
import { createInterface } from "node:readline";
import { Redis } from "ioredis";

const [host, port, protocol, password, authority] = process.argv.slice(2);
const options = { host, port: Number(port), protocol: Number(protocol) };
if (password !== "-") options.password = password;
if (authority !== "-") {
  const { readFileSync } = await import("node:fs");
  options.tls = { ca: readFileSync(authority) };
}
const client = new Redis(options);
client.on("error", () => {});

for await (const line of createInterface({ input: process.stdin })) {
  const [word, count] = line.trim().split(" ");
  try {
    let numbers;
    if (word === "one") {
      numbers = [await client.incr("order")];
    } else {
      const batch = word === "pipeline" ? client.pipeline() : client.multi();
      for (let at = 0; at < Number(count); at++) batch.incr("order");
      const replies = await batch.exec();
      for (const [error] of replies) if (error) throw error;
      numbers = replies.map(([, number]) => number);
    }
    console.log(numbers.join("\n"));
  } catch (error) {
    console.log("!", error.constructor.name, String(error.message).replaceAll("\n", " "));
  }
  console.log(".");
}
client.disconnect();
