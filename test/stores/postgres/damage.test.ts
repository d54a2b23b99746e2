import { AuditLog } from 'daybook'
import { afterAll, afterEach, beforeAll } from 'vitest'
import { createPostgresStore } from '../../../adapters/postgres/postgres-store.js'
import { postgresDatabase, type TestDatabase } from '../../support/database.js'
import { postgresTruth } from '../../support/postgres-index.js'
import {
  DAMAGE_TUNING,
  type DamageHarness,
  describeDamagedEvents,
  describeDamagedSegments,
  describeVerify,
  recordBase,
} from '../shared/damage.js'

/** SQL that damages a log. */
type Harm = string

const open: AuditLog[] = []
const copies: TestDatabase[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((audit) => audit.close()))
  await Promise.all(copies.splice(0).map((copy) => copy.remove()))
})

const openStore = ({ url }: TestDatabase) =>
  createPostgresStore({ connectionString: url }, { tuning: DAMAGE_TUNING, checkMs: 50 })

/** Never used through its pool: a database can be copied only while nothing is connected to it. */
let base: TestDatabase
let ids: readonly string[] = []
beforeAll(async () => {
  base = await postgresDatabase()
  const { store, sealer } = openStore(base)
  const audit = new AuditLog({ types: {}, store })
  ids = await recordBase(audit)
  await sealer.settled()
  await audit.close()
})
afterAll(() => base.remove())

const WHERE = `WHERE (attributes ->> 'number')::int = 190`

const EVENTS: Readonly<Record<string, Harm>> = {
  'whose attributes have changed': `UPDATE daybook.events
    SET attributes = replace(attributes::text, 'text 190', 'text 191')::json ${WHERE}`,
  // Postgres itself makes sure that JSON is written as JSON.
  'whose attributes are not readable': `CREATE CAST (text AS json) WITHOUT FUNCTION;
    UPDATE daybook.events SET attributes = ('x' || attributes::text)::json ${WHERE};
    DROP CAST (text AS json)`,
  'whose type has changed': `UPDATE daybook.events SET type = 'ordes' ${WHERE}`,
}

const flipLast = (column: string): Harm =>
  `UPDATE daybook.segment_chunks SET ${column} = set_byte(${column}, length(${column}) - 1,
     get_byte(${column}, length(${column}) - 1) # 1) WHERE length(${column}) > 0`

const SEGMENTS: Readonly<Record<string, Harm>> = {
  'whose values have changed': `UPDATE daybook.segment_chunks
    SET vals = left(vals, -1) || chr(ascii(right(vals, 1)) # 1) WHERE vals <> ''`,
  'whose postings have changed': flipLast('posts'),
  'whose keys have changed': `UPDATE daybook.segment_chunks SET ordinal = ordinal + 1`,
  'whose first times have changed': `UPDATE daybook.segment_chunks
    SET first = set_byte(first, 7, get_byte(first, 7) # 1) WHERE kind = 7`,
  'whose row has changed': 'UPDATE daybook.segments SET last = last - 1000000',
  'whose times are gone': 'DELETE FROM daybook.segment_chunks WHERE kind = 7',
  'whose numbers have changed': 'UPDATE daybook.segment_chunks SET number = -1 - number',
}

const harness: DamageHarness<Harm> = {
  async open(harm) {
    const copy = await postgresDatabase(base.name)
    copies.push(copy)
    await copy.pool.query(harm)
    const { store, sealer } = openStore(copy)
    return {
      store,
      sealer,
      damage: async () => (await postgresTruth(copy.pool, 'daybook')).damage,
    }
  },
  opened: (audit) => void open.push(audit),
  none: '',
  ids: () => ids,
  events: EVENTS,
  segments: SEGMENTS,
  allSegments: SEGMENTS['whose keys have changed']!,
  loseEvent: `DELETE FROM daybook.events WHERE (attributes ->> 'number')::int = 20`,
  loseSegment: `UPDATE daybook.segments SET state = 9 WHERE id = (SELECT min(id) FROM daybook.segments)`,
  steps: ['index'],
}

describeDamagedEvents(harness)
describeDamagedSegments(harness)
describeVerify(harness)
