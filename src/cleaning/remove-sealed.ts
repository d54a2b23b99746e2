import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import path from 'node:path'
import { LazyEvent, plainEvent } from '../event/lazy-event.js'
import type { AuditEvent } from '../event/event.js'
import { formatTimestamp } from '../event/timestamp.js'
import { toBase64 } from '../ledger/base64.js'
import type { SealedLeaf } from '../ledger/removal.js'
import { changedEvents, type RuleRemoval } from '../ledger/remover.js'
import { openArchive } from './archive.js'
import { createFile, syncDirectory, writeAll } from './archive-files.js'
import type { ArchiveTarget } from './archive-target.js'
import { DEFAULT_FILE_MODE } from '../store/file-mode.js'
import { type DueSelection, removable } from './remove-events.js'
import type { Job } from './task.js'

// Events of one signed removal.
const BATCH = 2048

/** The event with the text that is stored, which is part of its leaf. */
const asStored = (event: AuditEvent): AuditEvent =>
  event instanceof LazyEvent ? event.withUnparsedAttributes() : event

async function hashOf(file: string): Promise<Uint8Array> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer)
  return hash.digest()
}

/**
 * Writes the leaves of the events of an archive file beside it, in the file `<file>.leaves`: for each event a line with its id, its leaf, the
 * salt and the hash of the leaf. The log forgets the salts with the events.
 */
async function writeLeaves(
  file: string,
  leaves: readonly SealedLeaf[],
  mode: number,
): Promise<void> {
  const lines = leaves.map(
    ({ id, leaf, salt, hash }) =>
      `${JSON.stringify({ id, leaf, salt: toBase64(salt), hash: toBase64(hash) })}\n`,
  )
  const handle = await createFile(`${file}.leaves`, mode)
  try {
    await writeAll(handle, Buffer.from(lines.join('')), 0)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await syncDirectory(path.dirname(file))
}

const modeOf = ({ to, mode }: ArchiveTarget): number =>
  (typeof to === 'object' ? to.mode : mode) ?? DEFAULT_FILE_MODE

/**
 * Archives and removes the due events of a log with a ledger. The database may have been changed, so this process checks each event
 * against the rule, the holds and its leaf. Events that are not sealed yet stay. Rejects with `DAMAGED`, after it has
 * removed the others, if events are not those that were sealed.
 */
export async function removeSealed(
  job: Job,
  selection: DueSelection,
  target: ArchiveTarget | undefined,
  sealed: RuleRemoval,
): Promise<void> {
  const { filter, before } = selection
  const { totals, signal } = job
  const cutoff = formatTimestamp(before)
  /** The leaves of events that are not removed yet, by their ids. */
  const waiting = new Map<string, SealedLeaf>()
  let changed = 0

  const remove = async (leaves: readonly SealedLeaf[], file?: Uint8Array): Promise<void> => {
    totals.removed_count += await sealed.remove(leaves, { cutoff, file }, { signal })
    for (const { id } of leaves) waiting.delete(id)
    job.progress()
  }
  const leavesOf = (ids: readonly string[]): SealedLeaf[] => ids.map((id) => waiting.get(id)!)
  const onFile = async (file: string, ids: readonly string[]): Promise<void> => {
    const leaves = leavesOf(ids)
    await writeLeaves(file, leaves, modeOf(target!))
    totals.archived_count = (totals.archived_count ?? 0) + ids.length
    totals.archive_file = file
    await remove(leaves, await hashOf(file))
  }
  const archive = target && openArchive(target, { ...job, onFile })
  const isFunction = typeof target?.to === 'function'
  const isDue = (event: AuditEvent): boolean =>
    event.created_at < cutoff && (filter === undefined || filter.matches(event))
  try {
    for await (const page of removable(job, selection, true)) {
      const { found, changed: count } = await sealed.select(page.filter(isDue), { signal })
      changed += count
      if (found.length === 0) continue
      for (const one of found) waiting.set(one.sealed.id, one.sealed)
      const form = isFunction ? plainEvent : asStored
      const durable = await archive?.add(found.map(({ event }) => form(event)))
      if (durable && isFunction) {
        totals.archived_count = (totals.archived_count ?? 0) + durable.length
        await remove(leavesOf(durable))
      }
      if (!archive && waiting.size >= BATCH) await remove([...waiting.values()])
    }
    await archive?.finish()
    if (!archive) await remove([...waiting.values()])
  } finally {
    await archive?.close()
  }
  await sealed.release(before, { signal })
  if (changed > 0) throw changedEvents(changed)
}
