import { shortText, visibleText } from '../../../src/describing/visible-text.js'
import type { Sentence, SentencePart } from '../../../src/describing/sentence.js'
import { sentenceText } from '../../../src/describing/sentence-text.js'
import type { AuditEvent } from '../../../src/event/event.js'
import { type Level, levelOf } from '../../../src/event/level.js'
import { attributeText } from '../../../src/filter/attribute-text.js'
import type { OpenLog } from '../log/log.js'
import { type Paint, painter, type Style } from '../terminal/style.js'
import { write } from '../terminal/terminal.js'
import type { Call, Option } from './command.js'
import { utcOption } from './times.js'

/** The options of commands that print events. */
export const rowOptions: readonly Option[] = [
  {
    flags: '--fields <names>',
    description: 'the columns, separated by commas: created_at,type,project_code',
    read: (text) => text.split(',').map((name) => name.trim()),
  },
  utcOption,
]

/** The columns of output to a pipe, without `--fields`. */
const COLUMNS = ['created_at', 'id', 'level', 'type', 'username', 'source', 'sentence']

type Cell = (event: AuditEvent, sentence: () => Sentence) => string

const OWN_CELLS: Readonly<Record<string, Cell>> = {
  created_at: (event) => event.created_at,
  id: (event) => event.id,
  level: (event) => levelOf(event.type),
  type: (event) => event.type,
  username: (event) => event.username ?? '',
  system: (event) => String(event.system),
  source: (event) => event.source ?? '',
  sentence: (_event, sentence) => sentenceText(sentence()),
}

function cellOf(name: string): Cell {
  if (Object.hasOwn(OWN_CELLS, name)) return OWN_CELLS[name]!
  const text = attributeText(name)
  return (event) => text(event) ?? ''
}

const STYLE_OF_LEVEL: Readonly<Partial<Record<Level, Style>>> = {
  error: 'red',
  warn: 'yellow',
  audit: 'magenta',
}
const STYLE_OF_PART: Readonly<Partial<Record<SentencePart['kind'], Style>>> = {
  name: 'bold',
  reason: 'red',
  quote: 'italic',
  tag: 'dim',
}

const MAX_CELL = 100_000

/** One line without tabs, so that each event is one row of the table. */
const oneLine = (text: string): string => shortText(text, MAX_CELL)

function sentenceIn(paint: Paint, sentence: Sentence): string {
  const rest = sentence.what.map((part) => {
    const style = STYLE_OF_PART[part.kind]
    const text = sentenceText({ who: null, what: [part], isVerbFirst: true })
    return style === undefined ? text : paint(style, text)
  })
  if (sentence.who === null) return rest.join('')
  return `${paint('cyan', sentence.who)}${sentence.isVerbFirst ? ' ' : ': '}${rest.join('')}`
}

/** `2026-11-24 05:58:01` in the time zone of the machine, which is the format of the locale `sv-SE`; or in UTC, with `Z`. */
export function shownTime(time: string, isUtc: boolean): string {
  if (isUtc) return `${time.slice(0, 10)} ${time.slice(11, 19)}Z`
  return new Date(time).toLocaleString('sv-SE')
}

export interface RowWriter {
  /** Resolves once the output takes more. */
  write(event: AuditEvent): Promise<void>
}

/** Prints events: as sentences on a terminal, as tab-separated values elsewhere, as JSON lines with `--json`. */
export function rowWriter(
  { options, terminal }: Pick<Call, 'options' | 'terminal'>,
  log: Pick<OpenLog, 'describe'>,
): RowWriter {
  const { stdout, env } = terminal
  const print = async (line: string): Promise<void> => write(stdout, `${line}\n`)
  const fields = options['fields'] as readonly string[] | undefined
  if (options['json']) {
    return {
      write: (event) =>
        print(JSON.stringify({ ...event, sentence: sentenceText(log.describe(event)) })),
    }
  }
  if (stdout.isTTY && !fields) {
    const paint = painter(stdout, env)
    return {
      write(event) {
        const level = levelOf(event.type)
        const style = STYLE_OF_LEVEL[level]
        const time = paint('dim', shownTime(event.created_at, options['utc'] === true))
        const label = style === undefined ? '' : `${paint(style, level)} `
        return print(
          `${time}  ${label}${sentenceIn(paint, log.describe(event))}  ${paint('dim', event.id)}`,
        )
      },
    }
  }
  const cells = (fields ?? COLUMNS).map(cellOf)
  return {
    write: (event) =>
      print(cells.map((cell) => oneLine(cell(event, () => log.describe(event)))).join('\t')),
  }
}

/** Prints one event with all its attributes. */
export function eventPrinter(
  { options, terminal }: Pick<Call, 'options' | 'terminal'>,
  log: Pick<OpenLog, 'describe'>,
): (event: AuditEvent) => Promise<void> {
  const { stdout, env } = terminal
  const lines = rowWriter({ options: { json: true }, terminal }, log)
  if (options['json'] || !stdout.isTTY) return (event) => lines.write(event)
  const paint = painter(stdout, env)
  return async (event) => {
    const { id, created_at, type, username, source, attributes } = event
    const shown = shownTime(created_at, options['utc'] === true)
    const own = { id, time: shown, type, user: username ?? '', source: source ?? '' }
    const rows = Object.entries({ ...own, ...attributes }).filter(([, value]) => value !== '')
    const width = Math.min(24, Math.max(...rows.map(([name]) => name.length)))
    const text = (value: unknown): string =>
      visibleText(typeof value === 'string' ? value : JSON.stringify(value, null, 2))
    const shownRows = rows.map(
      ([name, value]) =>
        `${paint('dim', oneLine(name).padEnd(width))}  ${text(value).replaceAll('\n', `\n${' '.repeat(width + 2)}`)}\n`,
    )
    await write(stdout, `${sentenceIn(paint, log.describe(event))}\n\n${shownRows.join('')}`)
  }
}
