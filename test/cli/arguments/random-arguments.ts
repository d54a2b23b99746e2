import { commands } from '../../../adapters/cli/commands.js'
import { optionsOf } from '../../../adapters/cli/call/options.js'
import type { Command, Option } from '../../../adapters/cli/call/command.js'
import type { CliOptions } from '../run-cli.js'
import { words } from '../../support/words.js'

/* Random command lines: valid commands, options and values, mixed with invalid ones. */

/** Names that command lines can contain. Files are in the current folder. */
export interface Names {
  /** The log. */
  readonly target: string
  readonly env: NonNullable<CliOptions['env']>
  readonly ids: readonly string[]
}

export interface CommandLine {
  readonly args: readonly string[]
  readonly options: CliOptions
  /** Milliseconds until Ctrl-C. @default never */
  readonly interruptMs?: number | undefined
  /** True if `--json` is read as an option. */
  readonly isJson: boolean
}

// There are no absolute paths and no `..`, because command lines write files.
const HOSTILE = [
  ...['', ' ', ...words('- -- --- --= -= = % %% %s%d %ZZ %00 %2e'), '\t', '\n'],
  ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'null', 'true', 'NaN', 'Infinity'],
  ...['0', '-0', '-1', '1e999', '0x10', '1.5', '9'.repeat(40), '1e3', ' 5', '５'],
  ...['é', 'e\u0301', '日本語', '😀', '\uD83D', '\u202Eevil', '\u0007', '\u001B[31mred', '\u200B'],
  ...['a\nb', 'a\tb', 'a\r\nb', "' OR 1=1 --", ...words('$(id) `id` * ? [ ] {} [] "')],
  ...['x'.repeat(5000), 'é'.repeat(3000), '[a]'.repeat(500), '--x'.repeat(500), '-'.repeat(300)],
]

const LOGS = [
  ...['none.db', 'in', 'in/empty.db', 'in/text.db', 'in/config.mjs', 'sqlite:none.db', 'file:none'],
  ...['sqlite://', 'file://', 'mysql://localhost/x', 'ftp://localhost', 'C:\\none.db', '.', 'in/'],
  ...['http://', 'https://', 'http://[::1', 'http://%zz', 'http://127.0.0.1:1/', 'http://a b/'],
  ...['http://127.0.0.1:99999/', 'http:///api', 'https://127.0.0.1:1', 'HTTP://127.0.0.1:1/'],
  ...['postgres://', 'postgres://%zz', 'postgres://127.0.0.1:1/none', 'postgres://127.0.0.1:0x/x'],
  ...[
    'postgres://127.0.0.1:99999/x',
    'postgresql://a:b@127.0.0.1:1/%',
    'postgres:x',
    'postgres://[',
  ],
]

const CONDITIONS = [
  ...['type_eq=debug', 'type_start=error:', 'username_in=ann', 'n_gteq=3', 'name_cont=sh%op'],
  ...['created_at_gt=2026-11-24T06:00:00Z', 'username_null=1', 'system_true=1', 'a_or_b_eq=1'],
  ...['name_matches=%25a_b', 'text_not_cont_all=x', 'type_eqq=debug', 'created_at_gt=noon', 'type'],
]

const QUERIES = [
  ...[
    'filter[type_eq]=debug&limit=5',
    'filter[n_gteq]=3&filter[m]=or&filter[username_eq]=ann',
    'limit=3',
  ],
  ...[
    'filter[sorts][]=name+desc&filter[sorts][]=created_at',
    'filter[g][0][m]=or&filter[g][0][n_eq]=1',
  ],
  ...[
    '?filter[username_in][]=ann&filter[username_in][]=bob',
    'q=deploy&range=24h',
    'range=yesterday',
  ],
  ...[
    'http://127.0.0.1:1/audit?filter[type_eq]=debug',
    'filter[type_con]=a',
    'filtr[type_eq]=a',
    '&&&',
  ],
]

const PIECES = [
  ...[...words('[ ] [] & = % %25 %F0 +'), ' ', ',', '\\', ...words('" _or_ _eq _any [g][0]')],
  ...[
    ...words('filter limit sorts - 😀'),
    '\uD800',
    '9'.repeat(30),
    '1e999',
    'null',
    'x'.repeat(2000),
  ],
]

const TIMES = words('2026-11-24T06:00:00Z 30s 10m 7d 999999999d 0s noon 2026-02-30 beginning')
const COUNTS = ['1', '3', '10', '1000', '0', '1001', '-1', '1.5', 'ten', '']
const ATTRIBUTES = words('type level username name n created_at text_a_b type,username , 10')
const FILES = [
  ...words('in/lines.ndjson in/events.ndjson in/broken.ndjson in/empty.db in none.ndjson -'),
]
const CONFIGS = ['config', 'throws', 'number', 'broken', 'store', 'rules', 'none'].map(
  (name) => `in/${name}.mjs`,
)
/** A placeholder for the log, because an export of another log may replace the file. */
const LOG = '<log>'
const OUTPUTS = [
  ...words('out.ndjson out.csv folder/out in in/lines.ndjson'),
  LOG,
  `${LOG}-wal`,
  'none/x',
]

/** Right and nearly right values of options. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  filter: CONDITIONS,
  q: ['deploy', '"by hand" -staging', '-', '"'],
  limit: COUNTS,
  top: COUNTS,
  fields: ATTRIBUTES,
  columns: ATTRIBUTES,
  by: ['ann', ...ATTRIBUTES],
  since: TIMES,
  after: TIMES,
  from: TIMES,
  out: OUTPUTS,
  to: CONFIGS,
  username: ['dpo', ''],
  config: CONFIGS,
  schema: ['public', 'daybook', 'no such', 'x"y', 'X'.repeat(80)],
  rule: ['debug', 'debog'],
  type: ['type', 'a.b', '', '..'],
  user: ['user', 'user.name'],
  time: ['time', '@timestamp'],
  port: ['0', '65536', 'x'],
}

const SUBJECTS = words('customer=c17 custmer=c17 customer= =c17 customer')
const SUBSCRIPTIONS = ['search', 'mail', 'serch']

/** Commands that take long on a sound log are rare. */
const WEIGHTS: Readonly<Record<string, number>> = {
  list: 12,
  get: 8,
  count: 8,
  tail: 2,
  export: 12,
  import: 5,
  verify: 0.05,
  rebuild: 0.3,
  doctor: 1,
  stats: 1,
  serve: 0.2,
}

interface Chance {
  /** True with this probability. */
  readonly is: (probability: number) => boolean
  readonly below: (n: number) => number
  readonly pick: <Item>(from: readonly Item[]) => Item
}

function chanceOf(random: () => number): Chance {
  const below = (n: number): number => Math.floor(random() * n)
  return {
    is: (probability) => random() < probability,
    below,
    pick: (from) => from[below(from.length)]!,
  }
}

function mutated({ pick, below }: Chance, text: string): string {
  const at = below(text.length + 1)
  const end = Math.min(text.length, at + below(4))
  const part = text.slice(at, end)
  const replacement = pick(['', pick(PIECES), part + pick(PIECES), part.repeat(2)])
  return text.slice(0, at) + replacement + text.slice(end)
}

/** One of the texts, sometimes changed, or a hostile text. */
function textOf(chance: Chance, from: readonly string[]): string {
  if (chance.is(0.1)) return chance.pick(HOSTILE)
  const text = chance.pick(from)
  return chance.is(0.12) ? mutated(chance, text) : text
}

function pickCommand({ pick, is, below }: Chance): Command {
  const total = 1000 * commands.reduce((sum, { name }) => sum + (WEIGHTS[name] ?? 2), 0)
  let at = below(total) / 1000
  for (const command of commands) {
    at -= WEIGHTS[command.name] ?? 2
    if (at < 0) return command
  }
  return is(1) ? commands[0]! : pick(commands)
}

function argumentsOf(chance: Chance, { arguments: wanted }: Command, names: Names): string[] {
  const { is, below } = chance
  const values: Readonly<Record<string, readonly string[]>> = {
    query: QUERIES,
    id: names.ids,
    events: names.ids,
    files: FILES,
    subscription: SUBSCRIPTIONS,
    subject: SUBJECTS,
  }
  return wanted.flatMap(({ name, required, variadic }) => {
    if (is(required ? 0.06 : 0.5)) return []
    const count = variadic ? 1 + below(3) : 1
    return Array.from({ length: count }, () => textOf(chance, values[name] ?? HOSTILE))
  })
}

function optionOf(chance: Chance, { flags, choices }: Option): string[] {
  const { is, pick } = chance
  const [, short, long = ''] = /^(?:(-\w), )?--([\w-]+)/.exec(flags) ?? []
  const typed = is(0.06) ? mutated(chance, `--${long}`) : `--${long}`
  const name = short !== undefined && is(0.3) ? short : typed
  if (!flags.includes('<')) return [is(0.04) ? `${name}=${pick(HOSTILE)}` : name]
  if (is(0.05)) return [name]
  const value = textOf(chance, choices ?? VALUES[long] ?? HOSTILE)
  return is(0.25) ? [`${name}=${value}`] : [name, value]
}

/** Inserts an item at a random place. */
const insert = ({ below }: Chance, items: string[], item: string): void =>
  void items.splice(below(items.length + 1), 0, item)

const SLASH_AT_START = /^(-o|--\w[\w-]*=)?((?:file:\/\/|sqlite:(?:\/\/)?)?)\/+/

/** The text without paths outside of the current folder. Arguments are UTF-8 without a NUL. */
const harmless = (text: string): string =>
  /^(?:https?|postgres(?:ql)?):\/\//.test(text)
    ? text
    : Buffer.from(text)
        .toString()
        .replaceAll('\0', '')
        .replaceAll('..', '.')
        .replace(SLASH_AT_START, '$1$2')

/** Interrupts commands without an end, and a few others. */
function interruptOf({ is, below }: Chance, args: readonly string[]): number | undefined {
  if (args.includes('serve')) return 40
  if (args.includes('tail')) return 12
  return is(0.02) ? below(8) : undefined
}

/** A command line on a log. */
export function randomArguments(random: () => number, names: Names): CommandLine {
  const chance = chanceOf(random)
  const { is, pick, below } = chance
  const command = pickCommand(chance)
  const words = command.name.split(' ')
  if (is(0.05)) words[below(words.length)] = textOf(chance, [mutated(chance, words[0]!)])
  const isInEnv = is(0.05)
  const log = is(0.12) ? pick([...LOGS, ...HOSTILE]) : names.target
  const rest = argumentsOf(chance, command, names)
  if (!isInEnv && !is(0.03) && command.targets.length > 0) rest.unshift(log)
  const options = optionsOf(command)
  const isJson = is(0.3)
  // Each command has few options, so that many command lines are right.
  for (let count = below(4); count > 0; count--) {
    const option = is(0.08) ? pick(commands.flatMap(optionsOf)) : pick(options)
    const at = below(rest.length + 1)
    rest.splice(at, 0, ...optionOf(chance, option))
    if (is(0.05)) rest.splice(at, 0, ...optionOf(chance, option))
  }
  if (is(0.05)) insert(chance, rest, pick(HOSTILE))
  if (is(0.01)) insert(chance, rest, pick(['--help', '-h', '--version']))
  const all = [...words, ...(isJson ? ['--json'] : []), ...rest]
  if (is(0.01)) insert(chance, all, pick(['help', '--', 'list']))
  if (is(0.01)) all.splice(below(all.length))
  const args = all.map((text) => harmless(text).replaceAll(LOG, names.target))
  return {
    args,
    interruptMs: interruptOf(chance, args),
    isJson: isJson && args[words.length] === '--json',
    options: {
      env: {
        ...(is(0.85) && names.env),
        ...(isInEnv && { DAYBOOK_LOG: harmless(log) }),
        ...(is(0.1) && { DAYBOOK_CONFIG: pick(CONFIGS) }),
        ...(is(0.2) && pick([{ NO_COLOR: '1' }, { FORCE_COLOR: '1' }, { TERM: 'dumb' }])),
      },
      ...(is(0.3) && { terminal: { columns: pick([0, 1, 20, 80, 300]) } }),
      ...(is(0.3) && { stdin: pick(['', '{"n":1}\n{"n":2}\n', 'no\n', '\u0000\u001F\u008B']) }),
    },
  }
}
