import { expect, it } from 'vitest'
import { readTarget, targetName } from '../../adapters/cli/log/target.js'

/* The name of a log in messages of the command line. */
it.each([
  ['audit.db', 'audit.db'],
  ['postgres://db.example/app', 'postgres://db.example/app'],
  ['postgres://ann:secret@db.example:5432/app', 'postgres://db.example:5432/app'],
  ['postgresql://ann:sec@ret@a.example,b.example/app', 'postgresql://a.example,b.example/app'],
  ['postgres://db.example/app?user=ann&password=secret', 'postgres://db.example/app'],
  ['postgres://ann:1?secret@db.example/app', 'postgres://…'],
  ['https://ann:secret@audit.example/api/events?key=secret', 'https://audit.example/api/events'],
])('%j is named %j', (text, name) => {
  expect(targetName(readTarget(text))).toBe(name)
})

it.each(['http://ann:secret@:x', 'postgres://ann:secret@:x/app'])(
  'an address that is not valid is not repeated: %j',
  (text) => {
    expect(() => readTarget(text)).toThrow(/^the address of (?:Postgres|the feed) is not valid$/)
  },
)
