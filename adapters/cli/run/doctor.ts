import type { AuditHealth } from '../../../src/health/health.js'
import { STORED_FORM } from '../../../src/store/stored-form.js'
import type { Checkup } from '../../../src/store/checkup.js'
import type { Call } from '../call/command.js'
import { pendingMigrations, storeCheckups } from '../log/stored-log.js'
import { type Exit, exitOf, messageOf } from '../terminal/exit-codes.js'
import { painter, type Style } from '../terminal/style.js'
import { write } from '../terminal/terminal.js'
import { personalTypes } from './personal-types.js'
import { READ_EVENTS, sharedValues } from './shared-values.js'

const bytesText = (bytes: number): string => `${(bytes / 1_048_576).toFixed(1)} MiB`

function healthCheckups({ store, index, cleaning, ledger, disk }: AuditHealth): Checkup[] {
  const found: Checkup[] = [
    {
      name: 'store',
      // The warnings of the store have checkups of their own.
      status: store.error ? 'fail' : 'pass',
      found: store.error?.message ?? `the log answers in ${Math.ceil(store.responseMs)} ms`,
    },
  ]
  if (index) {
    const { waiting, damaged, status } = index
    const remedy = 'let a service with this log run, or call daybook rebuild'
    found.push({
      name: 'index',
      status,
      found: `${waiting} events wait for the index, ${damaged} parts of it are damaged`,
      ...(status !== 'pass' && { remedy }),
    })
  }
  for (const { rule, clock_time, expected_time, until } of cleaning?.waiting ?? [])
    found.push({
      name: 'cleaning',
      status: 'warn',
      found: `the rule ${rule} waits until ${until}: the clock reads ${clock_time}, ${expected_time} was expected`,
      remedy: 'set the clock; if it is right, run daybook clean --yes --accept-clock',
    })
  if (ledger)
    found.push({
      name: 'ledger',
      status: ledger.status,
      found: ledger.error ?? `${ledger.waiting} events wait to be sealed`,
      remedy: 'let a service with the signer run, or call daybook checkpoint',
    })
  if (disk) {
    const { sizeBytes, freeBytes, status } = disk
    const free = freeBytes === undefined ? '' : `, ${bytesText(freeBytes)} are free`
    found.push({
      name: 'disk',
      status,
      found: `the log has ${bytesText(sizeBytes)}${free}`,
      ...(status !== 'pass' && { remedy: 'make room, or add a cleaning rule' }),
    })
  }
  return found
}

async function checkSchema(call: Call): Promise<Checkup> {
  const name = 'schema'
  const pending = await pendingMigrations(call.target).catch(messageOf)
  // Earlier checkups contain the reason, such as missing rights of the role.
  if (typeof pending === 'string') return { name, status: 'fail', found: pending }
  const { version, latest, ledger } = pending
  if (version === latest) {
    const form = `the schema has version ${version}, its events are in form ${STORED_FORM}`
    if (call.config?.ledger === undefined || ledger === undefined)
      return { name, status: 'pass', found: form }
    const begin = 'run daybook migrate with this --config, or open the log once as its owner'
    return { name, status: 'warn', found: `${form}; it has no tables of a ledger`, remedy: begin }
  }
  const remedy = version > latest ? 'update daybook' : 'run daybook migrate'
  if (version > 0)
    return {
      name,
      status: 'fail',
      found: `the schema has version ${version}, not ${latest}`,
      remedy,
    }
  const lost = 'if there was one, another program has dropped its tables: restore a backup'
  return { name, status: 'fail', found: 'there is no log', remedy: `${remedy}; ${lost}` }
}

/** The rights without which the role or the user cannot connect at all. */
const ENTRY: Readonly<Record<'sqlite' | 'postgres', string>> = {
  sqlite: 'let this user read the file and open its folder',
  postgres: 'give the role the password of the log and the right CONNECT on its database',
}

/** Results of the checks that this user may run, and the exit after a failed check. */
interface Checked {
  readonly found: readonly Checkup[]
  readonly exit: Exit
}

async function checkAll(call: Call): Promise<Checked> {
  const { kind } = call.target
  const node = `Node ${process.versions.node}`
  const found: Checkup[] = [{ name: 'Node', status: 'pass', found: node }]
  try {
    found.push(...(await storeCheckups(call.target)))
  } catch (error) {
    if (exitOf(error) !== 'forbidden') throw error
    const remedy = ENTRY[kind as keyof typeof ENTRY]
    found.push({ name: 'rights', status: 'fail', found: messageOf(error), remedy })
    return { found, exit: 'forbidden' }
  }
  const schema = await checkSchema(call)
  found.push(schema)
  if (schema.status === 'fail') return { found, exit: 'failed' }
  try {
    const { audit } = await call.openLog()
    found.push(...healthCheckups(await audit!.health()))
    const { events } = await audit!.list({ limit: READ_EVENTS }, { personal: 'stored' })
    found.push(...sharedValues(events), ...personalTypes(call.config ?? {}, events))
  } catch (error) {
    found.push({ name: 'store', status: 'fail', found: messageOf(error) })
  }
  return { found, exit: 'failed' }
}

const STYLES: Readonly<Record<Checkup['status'], Style>> = {
  pass: 'green',
  warn: 'yellow',
  fail: 'red',
}

export async function run(call: Call): Promise<Exit> {
  const { stdout, env } = call.terminal
  const { found, exit } = await checkAll(call)
  const paint = painter(stdout, env)
  for (const one of found) {
    const { status, name, found: text, remedy } = one
    if (call.options['json']) {
      await write(stdout, `${JSON.stringify(one)}\n`)
    } else {
      const end = remedy === undefined ? '' : `; ${remedy}`
      await write(stdout, `${paint(STYLES[status], status)}\t${name}\t${text}${end}\n`)
    }
  }
  return found.some(({ status }) => status === 'fail') ? exit : 'done'
}
