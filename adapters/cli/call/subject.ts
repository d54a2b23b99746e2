import type { PrivacyOptions, SubjectOption } from 'daybook'
import { usageError } from '../terminal/exit-codes.js'
import type { Call } from './command.js'

/** The person of the argument `subject`; `undefined` if there is none. Throws a usage error. */
export function readSubjectArgument({ arguments: { subject } }: Call): SubjectOption | undefined {
  if (subject === undefined) return undefined
  const text = String(subject)
  const at = text.indexOf('=')
  if (at < 1 || at === text.length - 1)
    throw usageError('the person must be given as <kind>=<id>, such as customer=c17')
  return { [text.slice(0, at)]: text.slice(at + 1) }
}

/** The option `privacy` of `--config`. Throws a usage error without it. */
export function requirePrivacy({ config }: Call, command: string): PrivacyOptions {
  if (config?.privacy) return config.privacy
  throw usageError(`${command} needs the keys of persons: --config <module> with privacy`)
}
