// As much of PostgreSQL's protocol as this sample needs, so that it runs without an install:
// one connection, SCRAM login, queries with text parameters.
import crypto from 'node:crypto';
import net from 'node:net';

function message(type, ...parts) {
  const body = Buffer.concat(parts);
  const head = Buffer.alloc(type ? 5 : 4);
  if (type) head.write(type);
  head.writeInt32BE(body.length + 4, head.length - 4);
  return Buffer.concat([head, body]);
}

const text = (value) => Buffer.from(`${value}\0`);
const int16 = (value) => Buffer.from([(value >> 8) & 255, value & 255]);
const int32 = (value) => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
};

class Connection {
  #socket;
  #received = Buffer.alloc(0);
  #wanted = null;
  #failure = null;
  #last = Promise.resolve();

  constructor(socket) {
    this.#socket = socket;
    const fail = (error) => {
      this.#failure = error;
      this.#wanted?.();
    };
    socket.on('data', (bytes) => {
      this.#received = Buffer.concat([this.#received, bytes]);
      this.#wanted?.();
    });
    socket.on('error', fail);
    socket.on('close', () => fail(new Error('the database closed the connection')));
  }

  send(...messages) {
    this.#socket.write(Buffer.concat(messages));
  }

  async next() {
    for (;;) {
      if (this.#received.length >= 5) {
        const length = this.#received.readInt32BE(1) + 1;
        if (this.#received.length >= length) {
          const taken = this.#received.subarray(0, length);
          this.#received = this.#received.subarray(length);
          return { type: String.fromCharCode(taken[0]), body: taken.subarray(5) };
        }
      }
      if (this.#failure) throw this.#failure;
      await new Promise((resolve) => (this.#wanted = resolve));
    }
  }

  /** Messages up to and with ReadyForQuery; an error is thrown once the server is ready again. */
  async *untilReady() {
    let failure;
    for (;;) {
      const { type, body } = await this.next();
      if (type === 'E') {
        const fields = body.toString().split('\0');
        failure = new Error(fields.find((field) => field.startsWith('M'))?.slice(1) ?? 'unknown error');
        if (/^S(FATAL|PANIC)/.test(fields[0])) throw failure;
      } else if (type === 'Z') {
        if (failure) throw failure;
        return;
      } else {
        yield { type, body };
      }
    }
  }

  query(statement, parameters = []) {
    const result = this.#last.then(() => this.#run(statement, parameters));
    this.#last = result.catch(() => {});
    return result;
  }

  async #run(statement, parameters) {
    const values = parameters.flatMap((value) => {
      const bytes = Buffer.from(String(value));
      return [int32(bytes.length), bytes];
    });
    this.send(
      message('P', text(''), text(statement), int16(0)),
      message('B', text(''), text(''), int16(0), int16(parameters.length), ...values, int16(0)),
      message('D', Buffer.from('P'), text('')),
      message('E', text(''), int32(0)),
      message('S'),
    );
    const names = [];
    const rows = [];
    for await (const { type, body } of this.untilReady()) {
      if (type === 'T') {
        let at = 2;
        for (let index = body.readInt16BE(0); index > 0; index -= 1) {
          const end = body.indexOf(0, at);
          names.push(body.toString('utf8', at, end));
          at = end + 19;
        }
      } else if (type === 'D') {
        const row = {};
        let at = 2;
        for (const name of names) {
          const length = body.readInt32BE(at);
          row[name] = length < 0 ? null : body.toString('utf8', at + 4, at + 4 + length);
          at += 4 + Math.max(0, length);
        }
        rows.push(row);
      }
    }
    return rows;
  }
}

function hmac(key, value) {
  return crypto.createHmac('sha256', key).update(value).digest();
}

async function logIn(connection, password) {
  const nonce = crypto.randomBytes(18).toString('base64');
  let first;
  let expected;
  for await (const { type, body } of connection.untilReady()) {
    if (type !== 'R') continue;
    const kind = body.readInt32BE(0);
    if (kind === 10) {
      first = `n=,r=${nonce}`;
      const initial = Buffer.from(`n,,${first}`);
      connection.send(message('p', text('SCRAM-SHA-256'), int32(initial.length), initial));
    } else if (kind === 11) {
      const challenge = body.toString('utf8', 4);
      const given = Object.fromEntries(challenge.split(',').map((part) => [part[0], part.slice(2)]));
      if (!given.r.startsWith(nonce)) throw new Error('the database answered another login');
      const salted = crypto.pbkdf2Sync(password, Buffer.from(given.s, 'base64'), Number(given.i), 32, 'sha256');
      const unproven = `c=biws,r=${given.r}`;
      const all = `${first},${challenge},${unproven}`;
      const client = hmac(salted, 'Client Key');
      const stored = crypto.createHash('sha256').update(client).digest();
      const proof = hmac(stored, all).map((byte, index) => byte ^ client[index]);
      expected = hmac(hmac(salted, 'Server Key'), all).toString('base64');
      connection.send(message('p', Buffer.from(`${unproven},p=${Buffer.from(proof).toString('base64')}`)));
    } else if (kind === 12 && body.toString('utf8', 4) !== `v=${expected}`) {
      throw new Error('the database does not know the password either');
    }
  }
}

/** Opens a connection by an address such as postgresql://user:password@host:port/name. */
export async function connect(address) {
  const { hostname, port, username, password, pathname } = new URL(address);
  const socket = net.connect(Number(port), hostname);
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  const connection = new Connection(socket);
  connection.send(
    message('', int32(196608), text('user'), text(decodeURIComponent(username)), text('database'), text(pathname.slice(1)), Buffer.from([0])),
  );
  await logIn(connection, decodeURIComponent(password));
  return connection;
}
