import { readFile } from 'node:fs/promises'
import type { AuditLog } from 'daybook'
import { visibleText } from '../../../src/describing/visible-text.js'
import type {
  LedgerProgress,
  LedgerResult,
  LedgerVerification,
} from '../../../src/ledger/verification.js'
import type { Call } from '../call/command.js'
import { CommandError, type Exit, exitOf, messageOf, usageError } from '../terminal/exit-codes.js'
import { numberText } from '../terminal/format.js'
import { showProgress } from '../terminal/progress.js'
import { painter } from '../terminal/style.js'
import { write } from '../terminal/terminal.js'

const EXITS: Readonly<Record<LedgerResult, Exit>> = {
  intact: 'done',
  'self-consistent': 'unproved',
  tampered: 'failed',
}

const readHead = async (file: string): Promise<string> => {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw usageError(`--head: cannot read ${file}: ${(error as Error).message}`)
  }
}

const ENDS: Readonly<Record<LedgerResult, string>> = {
  intact: 'intact: everything up to the head from outside is as it was sealed',
  'self-consistent':
    'self-consistent: nothing is wrong, but without a head from outside the whole ledger may have been replaced',
  tampered: 'tampered',
}

async function compare(
  audit: AuditLog,
  { terminal, options }: Call,
  heads: readonly string[],
): Promise<LedgerVerification> {
  const { signal } = terminal
  const since = options['since'] as string | undefined
  const progress = showProgress(terminal, { label: 'comparing the leaves', unit: 'leaves' })
  const onProgress = ({ done, total }: LedgerProgress): void => progress.update(done, total)
  return audit.ledger.verify({ signal, heads, since, onProgress }).finally(() => progress.stop())
}

/** A failure of another kind is no sign that the log was changed, so the command does not end as `failed`. */
function asUnproved(error: unknown): never {
  if (exitOf(error) !== 'failed') throw error
  throw new CommandError('unproved', `the log cannot be verified: ${messageOf(error)}`)
}

/** Compares the log with its ledger: `daybook verify --ledger`. */
export async function verifyLedger(call: Call): Promise<Exit> {
  const { options, terminal, config } = call
  const { stdout } = terminal
  const ledgerKey = options['key'] as string | undefined
  if (ledgerKey === undefined && !config?.ledger)
    throw usageError('verify --ledger needs the key of the ledger: give --key, or --config with it')
  const files = (options['head'] as readonly string[] | undefined) ?? []
  const heads = await Promise.all(files.map(readHead))
  const { findings, ...found } = await call
    .openLog({ ledgerKey })
    .then(({ audit }) => compare(audit!, call, heads))
    .catch(asUnproved)
  if (options['json']) {
    for (const finding of findings) await write(stdout, `${JSON.stringify(finding)}\n`)
    await write(stdout, `${JSON.stringify({ ...found, findings: findings.length })}\n`)
  } else {
    const paint = painter(stdout, terminal.env)
    for (const { kind, reason, acknowledged } of findings) {
      const note = acknowledged === undefined ? '' : ` (acknowledged: ${visibleText(acknowledged)})`
      await write(stdout, `${paint('red', kind)}: ${visibleText(reason)}${note}\n`)
    }
    const { size, provedSize, events, waiting, result } = found
    const counts = `${numberText(events)} events and ${numberText(size)} leaves compared, ${numberText(provedSize)} under a head from outside, ${numberText(waiting)} events wait`
    const part = found.since === undefined ? '' : `, of events since ${found.since} only`
    await write(stdout, `${counts}${part}\n${ENDS[result]}\n`)
  }
  return EXITS[found.result]
}
