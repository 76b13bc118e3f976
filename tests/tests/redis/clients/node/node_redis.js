// node-redis: takes numbers of `order` as it is told by lines of its input.
import { createInterface } from "node:readline";
import { createClient } from "redis";

const [host, port, protocol, password, authority] = process.argv.slice(2);
const socket = { host, port: Number(port) };
if (authority !== "-") {
  const { readFileSync } = await import("node:fs");
  Object.assign(socket, { tls: true, ca: readFileSync(authority) });
}
const client = createClient({
  socket,
  RESP: Number(protocol),
  ...(password === "-" ? {} : { password }),
});
client.on("error", () => {});
await client.connect();

for await (const line of createInterface({ input: process.stdin })) {
  const [word, count] = line.trim().split(" ");
  try {
    let numbers;
    if (word === "one") {
      numbers = [await client.incr("order")];
    } else if (word === "pipeline") {
      // Commands of one tick are one pipeline.
      numbers = await Promise.all(Array.from({ length: Number(count) }, () => client.incr("order")));
    } else {
      let multi = client.multi();
      for (let at = 0; at < Number(count); at++) multi = multi.incr("order");
      numbers = await multi.exec();
    }
    console.log(numbers.join("\n"));
  } catch (error) {
    console.log("!", error.constructor.name, String(error.message).replaceAll("\n", " "));
  }
  console.log(".");
}
client.destroy();
