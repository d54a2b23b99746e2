import { nearest } from '../../../src/event/nearest.js'
import { visibleText } from '../../../src/describing/visible-text.js'
import type { CleaningResult } from '../../../src/cleaning/rule.js'
import type { Call } from '../call/command.js'
import { type Exit, usageError } from '../terminal/exit-codes.js'
import { counted } from '../terminal/format.js'
import { printNotice } from '../terminal/notice.js'
import { showElapsed, showProgress } from '../terminal/progress.js'
import { write } from '../terminal/terminal.js'

function textOf(result: CleaningResult, isPreview: boolean): string {
  const {
    name,
    target,
    removed_count,
    due_count = 0,
    oldest_due,
    newest_due,
    archive_file,
    skipped,
    error,
  } = result
  if (error !== undefined) return `${name}: failed: ${error}`
  const isSkipped = skipped !== undefined && removed_count + due_count === 0
  if (isSkipped) return `${name}: skipped: ${skipped}`
  const what = (count: number): string =>
    target === 'events' ? counted(count, 'event') : String(count)
  const range = oldest_due ? `, from ${oldest_due} to ${newest_due ?? oldest_due}` : ''
  const partly = skipped === undefined ? '' : `; partly skipped: ${skipped}`
  if (isPreview) return `${name}: would remove ${what(due_count)}${range}${partly}`
  const archive = archive_file === undefined ? '' : `, archived in ${archive_file}`
  return `${name}: removed ${what(removed_count)}${archive}${partly}`
}

async function runRules(call: Call, isPreview: boolean): Promise<readonly CleaningResult[]> {
  const { terminal, options } = call
  const { signal } = terminal
  const rules = options['rule'] as readonly string[] | undefined
  // A log that only reads takes no rules.
  const { audit } = await call.openLog({ readOnly: false })
  if (isPreview) {
    const elapsed = showElapsed(terminal, 'counting')
    return audit!.cleaning.preview({ signal, rules }).finally(() => elapsed.stop())
  }
  if (options['acceptClock'] === true) audit!.acceptClock()
  const progress = showProgress(terminal, { label: 'removing', unit: 'events' })
  return audit!.cleaning
    .run({ signal, rules, onProgress: ({ removed_count }) => progress.update(removed_count) })
    .finally(() => progress.stop())
}

export async function run(call: Call): Promise<Exit> {
  const { options, terminal, config } = call
  if (!Array.isArray(config?.cleaning?.rules))
    throw usageError('clean needs the rules: --config <module> with cleaning')
  const names = config.cleaning.rules.map(({ name, target }) => name ?? target)
  const wanted = (options['rule'] as readonly string[] | undefined) ?? []
  const unknown = wanted.find((rule) => !names.includes(rule))
  if (unknown !== undefined)
    throw usageError(`there is no cleaning rule ${unknown}`, nearest(unknown, names))
  const isPreview = options['yes'] !== true
  if (!isPreview && options['dryRun'] === true)
    throw usageError('--yes and --dry-run cannot be used together')
  if (isPreview && options['acceptClock'] === true)
    throw usageError('--accept-clock needs --yes: a preview accepts nothing')
  const results = await runRules(call, isPreview)
  for (const result of results) {
    const line = options['json'] ? JSON.stringify(result) : visibleText(textOf(result, isPreview))
    await write(terminal.stdout, `${line}\n`)
  }
  if (isPreview)
    printNotice(terminal, 'nothing was removed; --yes runs the rules', options['json'] === true)
  return results.some(({ error }) => error !== undefined) ? 'failed' : 'done'
}
