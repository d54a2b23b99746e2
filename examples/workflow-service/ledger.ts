import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { AuditLog, LedgerOptions } from 'daybook'
import { directoryAnchor, generateKey, keyFile } from 'daybook/ledger'
import { ledgerFolder, type StoreOption } from './options.js'

/** The ledger of the log, and lines for the operator. */
export interface OpenedLedger {
  readonly options?: LedgerOptions
  readonly lines: readonly string[]
  /** True if the log has events from before its ledger. */
  readonly adopts: boolean
}

/** The folder beside the database: `daybook.db` -> `daybook-ledger`. A real service keeps key and heads on other storage. */
async function openFolder(filename: string): Promise<OpenedLedger> {
  const folder = ledgerFolder(filename)
  const key = join(folder, 'key.pem')
  const lines: string[] = []
  if (existsSync(folder) && !(existsSync(filename) && existsSync(key))) {
    // A key signs one log, and signs nothing without its last note.
    const kept = `${folder}-until-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`
    await rename(folder, kept)
    lines.push(`ledger: another one begins; the files of the last one are in ${kept}`)
  }
  const isNew = !existsSync(key)
  if (isNew) {
    await mkdir(folder, { mode: 0o700 })
    await generateKey(`demo.example.com/${randomUUID()}`, key)
  }
  const signer = keyFile(key)
  const [origin = ''] = signer.vkey.split('+')
  const anchor = directoryAnchor(join(folder, 'heads'))
  const options: LedgerOptions = {
    origin,
    signer,
    anchors: [{ anchor, every: { minutes: 10 } }],
    verify: { every: { days: 1 } },
  }
  lines.push(`ledger: key and heads in ${folder}`)
  return { options, lines, adopts: isNew && existsSync(filename) }
}

/** Opens the ledger of a SQLite log, and makes its key at the first start. A ledger that cannot be opened does not stop the service. */
export async function openLedger(store: StoreOption): Promise<OpenedLedger> {
  if (store.kind !== 'sqlite') return { lines: [], adopts: false }
  try {
    return await openFolder(store.filename)
  } catch (error) {
    return { lines: [`ledger: none, because ${(error as Error).message}`], adopts: false }
  }
}

/**
 * Seals the log, also the events from before its ledger, which would never be cleaned otherwise. Rejects with `LEDGER_DIVERGED` if the ledger does not fit
 * the log.
 */
export async function sealLog(
  { ledger }: Pick<AuditLog, 'ledger'>,
  { options, adopts }: OpenedLedger,
): Promise<void> {
  if (!options) return
  await ledger.checkpoint()
  if (adopts) await ledger.adopt()
}
