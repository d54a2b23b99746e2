import { createHash } from 'node:crypto'
import { realpathSync, statSync } from 'node:fs'
import path from 'node:path'
import type { AuditLog } from 'daybook'
import type { Preset } from 'daybook/presets'
import { visibleText } from '../../../src/describing/visible-text.js'
import type { Call } from '../call/command.js'
import type { FieldOptions } from '../importing/fields.js'
import { importEvents } from '../importing/import-events.js'
import { type CreatedAt, createOwnTimes, type OwnTimes } from '../importing/own-times.js'
import {
  recordLines,
  type RecordingLog,
  type RecordLinesOptions,
} from '../importing/record-lines.js'
import { type Exit, usageError } from '../terminal/exit-codes.js'
import { printNotice } from '../terminal/notice.js'
import { megabytesText } from '../terminal/format.js'
import { type Progress, showProgress } from '../terminal/progress.js'
import { write } from '../terminal/terminal.js'

/** The options of lines that are recorded, by their names on the command line. */
const FIELD_OPTIONS = {
  type: '--type',
  typePrefix: '--type-prefix',
  typeLiteral: '--type-literal',
  user: '--user',
  time: '--time',
} as const

/** Further options for recorded lines, also allowed with presets. */
const RECORD_OPTIONS = { limit: '--limit', createdAt: '--created-at' } as const

/** Options for converting lines to events; `undefined` if the files contain complete events. */
async function readFields({ options }: Call): Promise<FieldOptions | undefined> {
  const { presets } = await import('daybook/presets')
  const given = Object.entries(FIELD_OPTIONS).filter(([name]) => options[name] !== undefined)
  const preset: Preset | undefined = presets.find(({ name }) => name === options['preset'])
  const [first] = given
  if (preset && first) throw usageError(`--preset ${preset.name} takes no ${first[1]}`)
  if (!preset && options['record'] !== true) {
    const all = Object.entries({ ...FIELD_OPTIONS, ...RECORD_OPTIONS })
    const recorded = all.find(([name]) => options[name] !== undefined)
    if (!recorded) return undefined
    throw usageError(`${recorded[1]} needs --record: whole events are stored as they are`)
  }
  return { preset, ...Object.fromEntries(given.map(([name]) => [name, options[name]])) }
}

function readLimit(text: string | undefined): number {
  if (text === undefined) return Infinity
  const limit = Number(text)
  if (Number.isSafeInteger(limit) && limit >= 1) return limit
  throw usageError(`--limit ${text}: must be a whole number of at least 1`)
}

const digest = (...parts: readonly (string | Buffer)[]): string => {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part).update('\n')
  return `import:${hash.digest('base64url')}`
}

/**
 * The keys of the records of a file. A preset's record with an id has the same key in any file. For other records,
 * the key is made of the path of the file, its first record, and the number and the text of the record. It stays the
 * same when the file grows, and differs in another file.
 */
function recordKeys(
  { preset }: FieldOptions,
  file: string,
): NonNullable<RecordLinesOptions['keysOf']> {
  const name = file === '-' ? file : realpathSync(file)
  let first: string | undefined
  return ({ bytes }, number, id) => {
    first ??= digest(name, bytes)
    if (!preset || id === undefined) return [digest(first, String(number), bytes)]
    return [digest(preset.name, id), digest(preset.name, id, bytes)]
  }
}

/** Result of importing one file. */
interface FileResult {
  readonly file: string
  readonly text: string
  /** Messages about single lines. */
  readonly problems: readonly string[]
  readonly isWhole: boolean
  readonly figures: object
}

const counted = (count: number, one: string): string =>
  `${count.toLocaleString('en')} ${one}${count === 1 ? '' : 's'}`

async function storeFile(
  audit: Pick<AuditLog, 'importEvents'>,
  file: string,
  {
    call,
    progress,
    before,
  }: { readonly call: Call; readonly progress: Progress; readonly before: number },
): Promise<FileResult> {
  const { signal, stdin } = call.terminal
  const isDry = call.options['dryRun'] === true
  const onProgress = (bytes: number): void => progress.update(before + bytes, undefined)
  const { imported, skipped } = await importEvents(audit, file, {
    signal,
    stdin,
    isDry,
    onProgress,
  })
  const known = skipped === 0 ? '' : `, ${skipped.toLocaleString('en')} already there`
  const text = `${counted(imported, 'event')}${known}`
  return { file, text, problems: [], isWhole: true, figures: { imported, skipped } }
}

const OUTCOMES = {
  repeated: 'already there',
  malformed: 'malformed',
  refused: 'refused',
  undated: 'without a valid time',
  outside: 'with a time in the future or before 1970',
  altered: 'changed (see their attribute recording)',
} as const

async function recordFile(
  audit: RecordingLog,
  file: string,
  fields: FieldOptions,
  {
    call,
    progress,
    before,
    limit,
    times,
  }: {
    readonly call: Call
    readonly progress: Progress
    readonly before: number
    readonly limit: number
    readonly times: OwnTimes | undefined
  },
): Promise<FileResult & { readonly lines: number }> {
  const onProgress = ({ bytes }: { readonly bytes: number }): void =>
    progress.update(before + bytes)
  const { stdin, signal } = call.terminal
  const { problems, ...counts } = await recordLines({
    audit,
    times,
    file,
    ...fields,
    limit,
    keysOf: recordKeys(fields, file),
    stdin,
    signal,
    onProgress,
  })
  const { recorded, repeated, malformed, refused } = counts
  const others = Object.entries(OUTCOMES)
    .map(([name, text]) => [counts[name as keyof typeof OUTCOMES], text] as const)
    .filter(([count]) => count > 0)
    .map(([count, text]) => `, ${count.toLocaleString('en')} ${text}`)
  const rest = malformed + refused - problems.length
  return {
    file,
    text: `${counted(recorded, 'event')}${others.join('')}`,
    problems: [
      ...problems.map(({ line, reason }) => `${file}: line ${line}: ${reason}`),
      ...(rest > 0 ? [`${file}: … and ${rest} more`] : []),
    ],
    isWhole: malformed + refused === 0,
    figures: counts,
    lines: recorded + repeated + malformed + refused,
  }
}

const OWN_TIMES = (events: string): string => `created_at of ${events} is the time of the record`
const IMPORT_TIMES = (events: string): string =>
  `the log was not empty: created_at of ${events} is the time of the import, and occurred_at that of the record (see --created-at)`

/** A log that records nothing, so that a dry run reads lines like the import. */
const NO_LOG: RecordingLog = {
  recordCustom: () => Promise.resolve(undefined),
  list: () => Promise.resolve({ events: [], truncated: false }),
}

const sizeOf = (file: string): number =>
  file === '-' ? 0 : (statSync(file, { throwIfNoEntry: false })?.size ?? 0)

export async function run(call: Call): Promise<Exit> {
  const { options, terminal, target } = call
  const files = call.arguments['files'] as readonly string[]
  const fields = await readFields(call)
  let limit = readLimit(options['limit'] as string | undefined)
  const missing = files.find((file) => file !== '-' && !statSync(file, { throwIfNoEntry: false }))
  if (missing !== undefined) throw usageError(`there is no file ${missing}`)
  const isDry = options['dryRun'] === true
  const isNew = target.kind === 'sqlite' && !statSync(target.filename, { throwIfNoEntry: false })
  const log = isDry ? undefined : await call.openLog({ readOnly: false, migrate: isNew })
  // After an import, the newest event may be old. This causes a doubt about the clock.
  log?.audit?.store.acceptClock?.()
  const times =
    log?.audit &&
    (await createOwnTimes(log.audit, {
      createdAt: options['createdAt'] as CreatedAt | undefined,
      resolveSource: call.config?.resolveSource,
    }))
  const sum = files.reduce((bytes, file) => bytes + sizeOf(file), 0)
  const shown = showProgress(terminal, { label: 'importing', unit: 'MB', format: megabytesText })
  const progress: Progress = { ...shown, update: (bytes) => shown.update(bytes, sum || undefined) }
  const start = performance.now()
  let before = 0
  let isWhole = true
  const say = async (text: string): Promise<void> => {
    if (options['json'] !== true) await write(terminal.stdout, `${text}\n`)
  }
  for (const file of files) {
    if (limit === 0) break
    let result: FileResult
    try {
      if (fields) {
        const recorded = await recordFile(log?.audit ?? NO_LOG, file, fields, {
          call,
          progress,
          before,
          limit,
          times,
        })
        limit -= recorded.lines
        result = recorded
      } else {
        result = await storeFile(log?.audit as AuditLog, file, { call, progress, before })
      }
    } catch (error) {
      progress.stop()
      if (terminal.signal.aborted && error instanceof Error)
        printNotice(
          terminal,
          `${error.message}; the same command goes on from there`,
          options['json'] === true,
        )
      throw error
    }
    progress.stop()
    before += sizeOf(file)
    isWhole &&= result.isWhole
    for (const problem of result.problems) printNotice(terminal, problem, options['json'] === true)
    const seconds = (performance.now() - start) / 1000
    const line = options['json']
      ? JSON.stringify({ file, ...result.figures, seconds })
      : `${path.basename(file)}: ${result.text} in ${seconds.toFixed(1)} s`
    await write(terminal.stdout, `${visibleText(line)}\n`)
  }
  const { dated, undated } = (await times?.end(!fields)) ?? { dated: 0, undated: 0 }
  if (dated > 0) await say(OWN_TIMES(counted(dated, 'event')))
  if (undated > 0 && options['createdAt'] === undefined)
    await say(IMPORT_TIMES(counted(undated, 'event')))
  return isWhole ? 'done' : 'failed'
}
