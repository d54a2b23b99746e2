import type { AuditLog, EventsErasure, SubjectErasure } from 'daybook'
import { visibleText } from '../../../src/describing/visible-text.js'
import type { Call } from '../call/command.js'
import { readSubjectArgument, requirePrivacy } from '../call/subject.js'
import { usageError } from '../terminal/exit-codes.js'
import { counted } from '../terminal/format.js'
import { printNotice } from '../terminal/notice.js'
import { showElapsed } from '../terminal/progress.js'
import { write } from '../terminal/terminal.js'

const sentencesOf = (given: SubjectErasure | EventsErasure, isPreview: boolean): string[] => {
  const events = counted(given.events, 'event')
  if ('ids' in given) {
    const { missing, remaining } = given
    return [
      isPreview ? `would remove ${events}` : `removed ${events}`,
      ...missing.map((id) => `there is no event ${id}`),
      ...remaining,
    ]
  }
  const { ref, unsealed, complete_at } = given
  const erased = `the key ${ref} of ${events}`
  return [
    ...(ref === null
      ? ['there is nothing to erase: the person has no key']
      : [isPreview ? `would destroy ${erased}` : `destroyed ${erased}`]),
    ...(unsealed > 0
      ? [`${counted(unsealed, 'older event')} of the person may have personal values in clear`]
      : []),
    ...(complete_at === undefined ? [] : [`complete at ${complete_at}`]),
  ]
}

/** The option, which only a preview may lack. */
function readText(call: Call, name: 'reason' | 'username', isPreview: boolean): string {
  const text = (call.options[name] as string | undefined) ?? ''
  if (isPreview || text.trim() !== '') return text
  throw usageError(`--${name} is missing: the event of the erasure keeps it`)
}

async function eraseWith(
  audit: AuditLog,
  call: Call,
  ids: readonly string[] | undefined,
  isPreview: boolean,
): Promise<SubjectErasure | EventsErasure> {
  const options = {
    reason: readText(call, 'reason', isPreview),
    username: readText(call, 'username', isPreview),
    dryRun: isPreview,
    signal: call.terminal.signal,
  }
  return ids ? audit.erase({ ids }, options) : audit.erase(readSubjectArgument(call)!, options)
}

export async function run(call: Call): Promise<void> {
  const { options, terminal } = call
  const ids = (options['ids'] as readonly (readonly string[])[] | undefined)?.flat()
  const subject = readSubjectArgument(call)
  if ((ids === undefined) === (subject === undefined))
    throw usageError('give a person, such as customer=c17, or --ids, but not both')
  if (subject) requirePrivacy(call, 'erase')
  const isPreview = options['yes'] !== true
  if (!isPreview && options['dryRun'] === true)
    throw usageError('--yes and --dry-run cannot be used together')
  for (const name of ['reason', 'username'] as const) readText(call, name, isPreview)
  // A log that only reads has no holds.
  const { audit } = await call.openLog({ readOnly: false, seals: ids !== undefined && !isPreview })
  const elapsed = showElapsed(terminal, isPreview ? 'counting' : 'erasing')
  const erased = await eraseWith(audit!, call, ids, isPreview).finally(() => elapsed.stop())
  const lines = options['json'] ? [JSON.stringify(erased)] : sentencesOf(erased, isPreview)
  for (const line of lines) await write(terminal.stdout, `${visibleText(line)}\n`)
  if (isPreview) printNotice(terminal, 'nothing was erased; --yes erases', options['json'] === true)
}
