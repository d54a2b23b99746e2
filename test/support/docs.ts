import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { errorCodes, type EventTypeDefinition, splitEventType } from 'daybook'
import { workflowEventTypes, workflowLinks } from 'daybook/workflow'
import type { Duration } from '../../src/event/duration.js'
import { type ProblemCode, problems, statusOf } from '../../src/http/problem.js'
import { attacks } from './ledger-attacks.js'
import { commandPages, commandTables } from './command-pages.js'
import { table } from './markdown.js'
import { recordSession } from './terminal-session.js'

/*
 * The generated parts of the documentation. `npm run docs:generate` writes them; a test fails if they
 * are out of date.
 */
const root = fileURLToPath(new URL('../..', import.meta.url))

const duration = (value: Duration): string =>
  Object.entries(value)
    .map(([unit, count]) => `${String(count)} ${count === 1 ? unit.replace(/s$/, '') : unit}`)
    .join(', ')

function remarks(definition: EventTypeDefinition): string {
  const { throttle, onlyWhile, live, cadence, source, severity, ocsf } = definition
  const scope = throttle?.scope ? ` for each ${throttle.scope.join(' and ')}` : ''
  return [
    throttle && `throttled: one in ${duration(throttle.period)}${scope}`,
    onlyWhile && `depends on the setting \`${onlyWhile}\``,
    live && 'live: its attributes change until the work ends',
    cadence && `every ${duration(cadence)}`,
    source && `source: \`${source}\``,
    severity && `severity: ${severity}`,
    ocsf && `OCSF class: ${ocsf.class}`,
  ]
    .filter(Boolean)
    .join('; ')
}

function catalogue(): string {
  const types = Object.entries<EventTypeDefinition>(workflowEventTypes)
  const areas = [...new Set(types.map(([, { area }]) => area!))]
  const sections = areas.map((area) => {
    const rows = types
      .filter(([, definition]) => definition.area === area)
      .map(([type, definition]) => [
        `\`${type}\``,
        definition.description!,
        Array.isArray(definition.data) ? definition.data.map((key) => `\`${key}\``).join(', ') : '',
        remarks(definition),
      ])
    return `## ${area}\n\n${table(['Type', 'Recorded when', 'Data keys', 'Remarks'], rows)}\n`
  })
  const levels = types.map(([type]) => splitEventType(type).level)
  const count = [...new Set(levels)]
    .map((level) => `${levels.filter((other) => other === level).length} \`${level}\``)
    .join(', ')
  const dependent = types
    .filter(([, { onlyWhile }]) => onlyWhile)
    .map(([type]) => `\`${type}\``)
    .join(', ')
  return `# Workflow event types

\`workflowEventTypes\` of \`daybook/workflow\` has ${types.length} system event types: ${count}.

It records all of them. The events of ${dependent} also depend on settings of your
service. \`workflowEventTypesFor\` returns the same types, and records nothing while the setting of a type is off:

\`\`\`ts
import { workflowEventTypesFor } from 'daybook/workflow'

const settings = { logEmail: true, summary: true } // of your service
const types = workflowEventTypesFor({
  log_email_events: () => settings.logEmail, // or true or false
  'git_remote.periodic_fetch_summary.enabled': () => settings.summary,
})
\`\`\`

Functions are called for each event. A setting that is left out is on. One function \`(setting) => boolean\` does as well.

## Link attributes

\`workflowLinks\` of \`daybook/workflow\` is the table of link attributes, for the option [\`links\`](events.md#links) of the log: the lower the
rank, the more specific the resource.

${linkTable()}

${sections.join('\n')}`
}

const linkTable = (): string =>
  table(
    ['Attribute', 'Kind', 'Source', 'Rank'],
    workflowLinks.map(({ attribute, kind, path, rank }) => [
      `\`${attribute}\``,
      [kind]
        .flat()
        .map((one) => `\`${one}\``)
        .join(', '),
      `\`${path}\``,
      String(rank),
    ]),
  )

const errors = (): string =>
  table(
    ['`code`', 'HTTP', 'Meaning'],
    Object.entries(errorCodes).map(([code, meaning]) => [
      `\`${code}\``,
      String(statusOf(code as keyof typeof errorCodes)),
      meaning,
    ]),
  )

const httpErrors = (): string =>
  table(
    ['`code`', 'HTTP', 'Meaning'],
    Object.keys(problems).map((code) => {
      const { status, title } = problems[code as ProblemCode]
      return [`\`${code}\``, String(status), title]
    }),
  )

/** The findings as their kinds and numbers. */
function findingsText(findings: readonly string[]): string {
  const counts = new Map<string, number>()
  for (const finding of findings) {
    const [kind = '', first, last] = finding.split(/ (?:(\d+)-(\d+)$)?/)
    const unit = last !== undefined ? 'leaf' : finding === kind ? '' : 'event'
    const count = last === undefined ? 1 : Number(last) - Number(first) + 1
    const key = `${kind} ${unit}`
    counts.set(key, (counts.get(key) ?? 0) + count)
  }
  const texts = [...counts].map(([key, count]) => {
    const [kind, unit] = key.split(' ')
    const units = { leaf: 'leaves', event: 'events' }[unit!]
    return `\`${kind}\`${units ? `: ${count} ${count === 1 ? unit : units}` : ''}`
  })
  return texts.join(', ') || 'nothing'
}

function attackTables(): string {
  const sections = Object.entries(attacks).map(([title, group]) => {
    const rows = Object.entries(group).map(([name, { found, alone = found, on }]) => [
      name,
      findingsText(found),
      findingsText(alone),
      on?.join(', ') ?? 'all',
    ])
    const columns = ['What was done', 'With a head from outside', 'Without one', 'Stores']
    return `## ${title}\n\n${table(columns, rows)}`
  })
  return sections.join('\n\n')
}

/** The text with the part between the two markers of the name replaced. */
export function replacePart(text: string, name: string, part: string): string {
  const [open, close] = [`<!-- ${name} -->`, `<!-- /${name} -->`]
  const [from, to] = [text.indexOf(open), text.indexOf(close)]
  if (from === -1 || to < from)
    throw new Error(`the text has no section between ${open} and ${close}`)
  return `${text.slice(0, from)}${open}\n\n${part}\n\n${text.slice(to)}`
}

/** The guide to the command line, with its tables and the output of its commands. */
async function commandLineGuide(file: string): Promise<string> {
  const tables = commandTables()
  const text = tables.reduce(
    (before, [name, part]) => replacePart(before, name, part),
    fs.readFileSync(file, 'utf8'),
  )
  return recordSession(text)
}

/** The expected text of every file with generated parts. */
export async function generatedDocs(): Promise<ReadonlyMap<string, string>> {
  const reference = path.join(root, 'docs/reference')
  const errorsPage = path.join(reference, 'errors.md')
  const text = replacePart(fs.readFileSync(errorsPage, 'utf8'), 'errors', errors())
  const guide = path.join(root, 'docs/guide/command-line.md')
  const attacksPage = path.join(reference, 'ledger-attacks.md')
  const pages = [...commandPages()].map(
    ([word, page]) => [path.join(reference, 'commands', `${word}.md`), page] as const,
  )
  return new Map([
    [errorsPage, replacePart(text, 'http-errors', httpErrors())],
    [path.join(reference, 'workflow-event-types.md'), catalogue()],
    [guide, await commandLineGuide(guide)],
    [attacksPage, replacePart(fs.readFileSync(attacksPage, 'utf8'), 'attacks', attackTables())],
    ...pages,
  ])
}
