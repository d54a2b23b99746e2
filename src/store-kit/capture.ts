import { invalidOption } from '../errors.js'
import { type EventTypes, eventTypeFault } from '../event/event-types.js'
import { overlap } from '../event/personal.js'
import { LINK_FORMS, linkRules, type LinkTable } from '../event/links.js'
import { didYouMean, nearest } from '../event/nearest.js'
import { isSensitive } from '../event/secrets.js'
import { singular } from '../event/singular.js'
import { type OptionNames, requireOptions } from '../options.js'

/** A table whose changes are captured, with options of its own. */
export interface CapturedTable {
  readonly name: string
  /** Columns that identify a row. @default those of the table's primary key */
  readonly primaryKey?: readonly string[]
  /** Columns that no event contains. */
  readonly exclude?: readonly string[]
  /** The name of the table in events: `audit:<subject>:create`. @default the name of the table */
  readonly subject?: string
}

const CAPTURED_TABLE: OptionNames<CapturedTable> = {
  name: true,
  primaryKey: true,
  exclude: true,
  subject: true,
}

export interface CaptureOptions {
  readonly tables: readonly (string | CapturedTable)[]
  /** Columns that identify a row of a table without a primary key. */
  readonly primaryKey?: readonly string[]
  /** Columns that no event contains, in all tables that have them. */
  readonly exclude?: readonly string[]
  /**
   * The option `links` of the log. The source of a row is that of the link attribute that is called after its table, such as
   * `order_id` for `orders`, if its key has the form of that link. @default none: captured events have no source
   */
  readonly links?: LinkTable | undefined
  /**
   * The option `types` of the log. Triggers cannot encrypt, so columns that a type `audit:<subject>:…` declares as `personal` are left out as
   * those in `exclude` are. @default none: all columns are captured
   */
  readonly types?: EventTypes | undefined
}

export const CAPTURE_OPTIONS: OptionNames<CaptureOptions> = {
  tables: true,
  primaryKey: true,
  exclude: true,
  links: true,
  types: true,
}

/** Result of `captureChanges`, by the names of the tables. */
export interface CaptureResult {
  readonly installed: readonly string[]
  /** Whose triggers were made for other options or other columns. */
  readonly replaced: readonly string[]
  readonly unchanged: readonly string[]
}

/** The result, from what was done for each of the plans. */
export function captureResult(
  plans: readonly CapturePlan[],
  done: readonly (keyof CaptureResult)[],
): CaptureResult {
  const named = (kind: keyof CaptureResult): readonly string[] =>
    plans.filter((_, i) => done[i] === kind).map(({ name }) => name)
  return {
    installed: named('installed'),
    replaced: named('replaced'),
    unchanged: named('unchanged'),
  }
}

/** A table as it is in the database. */
export interface FoundTable {
  readonly columns: readonly string[]
  readonly primaryKey: readonly string[]
  /** Columns whose values triggers do not have: the server computes them when they are read. */
  readonly virtual?: readonly string[]
}

/** A source that ends with a key, which is of this kind. */
export interface KeySource {
  readonly prefix: string
  readonly kind: keyof typeof LINK_FORMS
}

/** Plan of the events that the triggers of a table write. */
export interface CapturePlan {
  readonly name: string
  readonly subject: string
  readonly primaryKey: readonly string[]
  /** The attribute that has the value of a primary key of one column, such as `order_id`. */
  readonly link: string | undefined
  /** The source of rows whose primary key has the form of the link. */
  readonly source: KeySource | undefined
  /** All columns but the excluded ones. */
  readonly columns: readonly string[]
  readonly excluded: readonly string[]
  /** Columns whose names look like those of secrets, of `columns`. */
  readonly secret: readonly string[]
}

/** Larger attributes are replaced by a note of their size. */
export const MAX_CAPTURED_BYTES = 1_048_576

/** Longer names of users are cut, and longer attributes of the actor are left out. */
export const MAX_ACTOR_CHARACTERS = 1000

/** Attributes that `captureAs` adds to captured events. The row's own key comes first, such as `session_id` of a table of sessions. */
export const ACTOR_ATTRIBUTES: readonly string[] = [
  'actor_id',
  'actor_kind',
  'on_behalf_of',
  'session_id',
  'agent_session_id',
  'remote_address',
  'request_id',
  'trace_id',
  'span_id',
]

export const captureType = (subject: string, action: string): string => `audit:${subject}:${action}`

function checkNames(option: string, names: unknown): void {
  const isName = (name: unknown): boolean =>
    typeof name === 'string' && name !== '' && !name.includes('\0')
  if (names !== undefined && !(Array.isArray(names) && names.every(isName)))
    throw invalidOption(`${option} must be a list of names`)
}

/** The tables of the options, each once. Throws `INVALID_OPTION`. */
export function readTables(options: CaptureOptions): readonly CapturedTable[] {
  const { tables, primaryKey, exclude } = options
  checkNames('primaryKey', primaryKey)
  checkNames('exclude', exclude)
  if (!Array.isArray(tables) || tables.length === 0)
    throw invalidOption('tables must be a list of at least one table')
  const read = (tables as CaptureOptions['tables']).map((table) => {
    const one = typeof table === 'string' ? { name: table } : table
    requireOptions(one, CAPTURED_TABLE, 'a table of tables')
    checkNames('tables', [one?.name])
    checkNames(`primaryKey of ${one.name}`, one.primaryKey)
    checkNames(`exclude of ${one.name}`, one.exclude)
    return one
  })
  const twice = read.find(({ name }, i) => read.findIndex((other) => other.name === name) < i)
  if (twice) throw invalidOption(`tables has ${twice.name} twice`)
  return read
}

/** Plans the capture of the tables, in their order. Throws `INVALID_OPTION`. */
export function planCaptures(
  tables: readonly CapturedTable[],
  options: CaptureOptions,
  found: readonly FoundTable[],
): readonly CapturePlan[] {
  const columns = found.flatMap((table) => table.columns)
  for (const name of options.exclude ?? [])
    if (!columns.includes(name))
      throw invalidOption(
        `exclude: no table has a column ${name}${didYouMean(nearest(name, columns))}`,
      )
  return tables.map((table, i) => planCapture(table, options, found[i]!))
}

/** The source of a link that is one of the link attributes, and not a path. */
function sourceOf(link: string, table: LinkTable = []): KeySource | undefined {
  const { kind, prefix = '' } = linkRules(table).get(link) ?? {}
  return typeof kind === 'string' && isForm(kind) ? { prefix, kind } : undefined
}

const isForm = (kind: string): kind is keyof typeof LINK_FORMS => Object.hasOwn(LINK_FORMS, kind)

/** The columns that hold personal attributes of the table's events. */
function personalColumns(subject: string, types: EventTypes, columns: readonly string[]): string[] {
  const start = captureType(subject, '')
  const names = Object.entries(types)
    .filter(([type]) => type.startsWith(start))
    .flatMap(([, { personal = [] }]) => personal.flatMap(({ attributes }) => attributes))
  return columns.filter((column) => names.some((name) => overlap(name, column)))
}

function planCapture(
  table: CapturedTable,
  options: CaptureOptions,
  found: FoundTable,
): CapturePlan {
  const { name, subject = name } = table
  const fault = eventTypeFault(captureType(subject, 'truncate'))
  if (fault) throw invalidOption(`the event type of the table ${name} ${fault}: give it a subject`)
  const declared = found.primaryKey.length > 0 ? found.primaryKey : options.primaryKey
  const primaryKey = table.primaryKey ?? declared ?? []
  if (primaryKey.length === 0)
    throw invalidOption(`the table ${name} has no primary key: give it { name, primaryKey }`)
  const own = [...(table.exclude ?? []), ...(found.virtual ?? [])]
  for (const column of [...primaryKey, ...own])
    if (!found.columns.includes(column))
      throw invalidOption(
        `the table ${name} has no column ${column}${didYouMean(nearest(column, found.columns))}`,
      )
  const personal = personalColumns(subject, options.types ?? {}, found.columns)
  const given = [...(options.exclude ?? []), ...own].filter((column) =>
    found.columns.includes(column),
  )
  const excluded = [...new Set([...given, ...personal])]
  const hidden = primaryKey.find((column) => excluded.includes(column))
  if (hidden !== undefined)
    throw invalidOption(
      `${given.includes(hidden) ? 'exclude has' : 'types declares as personal'} ${hidden}, which identifies the rows of ${name}`,
    )
  const columns = found.columns.filter((column) => !excluded.includes(column))
  const kind = singular(subject.slice(subject.lastIndexOf('.') + 1))
  const link = primaryKey.length === 1 ? `${kind}_id` : undefined
  return {
    name,
    subject,
    primaryKey,
    link,
    source: link === undefined ? undefined : sourceOf(link, options.links),
    columns,
    excluded,
    secret: columns.filter((column) => isSensitive(column) && !primaryKey.includes(column)),
  }
}
