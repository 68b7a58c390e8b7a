// Notes in PostgreSQL: GET /notes, POST /notes {text}, GET /notes/{id}.
import { connect } from './lib/postgres.mjs';

let database;

async function ready() {
  if (!database) {
    const opened = await connect(process.env.STP_DATABASE_CONNECTION_STRING);
    await opened.query('CREATE TABLE IF NOT EXISTS notes (id serial PRIMARY KEY, text text NOT NULL)');
    database = opened;
  }
  return database;
}

const answer = (statusCode, body) => ({
  statusCode,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

export async function handler(event) {
  const notes = await ready();
  switch (event.routeKey) {
    case 'GET /notes':
      return answer(200, {
        greeting: process.env.GREETING,
        notes: await notes.query('SELECT id, text FROM notes ORDER BY id'),
      });
    case 'POST /notes': {
      const body = event.isBase64Encoded ? Buffer.from(event.body, 'base64').toString() : event.body;
      const { text } = JSON.parse(body ?? '{}');
      if (typeof text !== 'string') return answer(400, { message: 'text is missing' });
      const [note] = await notes.query('INSERT INTO notes (text) VALUES ($1) RETURNING id, text', [text]);
      console.log(`note ${note.id} was written`);
      return answer(201, note);
    }
    default: {
      const found = await notes.query('SELECT id, text FROM notes WHERE id = $1', [event.pathParameters.id]);
      return found.length ? answer(200, found[0]) : answer(404, { message: 'no such note' });
    }
  }
}
