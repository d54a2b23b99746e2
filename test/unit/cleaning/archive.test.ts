import fs from 'node:fs'
import { open } from 'node:fs/promises'
import { gunzipSync } from 'node:zlib'
import { type AuditEvent, formatTimestamp } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { openArchive } from '../../../src/cleaning/archive.js'
import { openWorld } from '../../stores/shared/cleaning-world.js'
import { numberedId, plainEvent } from '../../support/plain-events.js'
import { tempDir } from '../../support/temp.js'

let temp: ReturnType<typeof tempDir>

beforeEach(() => {
  temp = tempDir()
})
afterEach(() => {
  vi.restoreAllMocks()
  temp.remove()
})

const { signal } = new AbortController()
const run = { rule: 'rule', described: {}, signal }

const page = (from: number, count: number, text = ''): AuditEvent[] =>
  Array.from({ length: count }, (_, i) =>
    plainEvent({
      id: numberedId(from + i),
      created_at: formatTimestamp(1_767_225_600_000_000 + from + i),
      attributes: { n: from + i, text },
    }),
  )

function read(file: string): AuditEvent[] {
  const lines = gunzipSync(fs.readFileSync(file)).toString('utf8').trimEnd().split('\n')
  return lines.map((line) => JSON.parse(line) as AuditEvent)
}

/** The prototype of Node's file handles. */
async function handles(): Promise<{ sync: () => Promise<void> }> {
  const handle = await open(temp.file('probe'), 'w')
  await handle.close()
  return Object.getPrototypeOf(handle) as { sync: () => Promise<void> }
}

describe('an archive in a directory', () => {
  it('has no file before the first event', async () => {
    const archive = openArchive({ to: temp.file('none') }, run)
    await archive.close()
    expect(archive.file).toBeUndefined()
    expect(fs.existsSync(temp.file('none'))).toBe(false)
  })

  it.each([
    [undefined, 0o600],
    [0o666, 0o666],
  ])('with the mode %s has the permissions %d', async (mode, expected) => {
    const archive = openArchive({ to: temp.dir, mode }, run)
    await archive.add(page(0, 1))
    await archive.close()
    expect(fs.statSync(archive.file!).mode & 0o777).toBe(expected)
  })

  it('is readable after each page, before it is closed', async () => {
    const archive = openArchive({ to: temp.dir }, run)
    await archive.add(page(0, 3))
    expect(read(archive.file!)).toEqual(page(0, 3))
    await archive.add(page(3, 2))
    expect(read(archive.file!)).toEqual(page(0, 5))
    await archive.close()
    expect(fs.readdirSync(temp.dir)).toHaveLength(1)
  })

  it('takes no page once its file was deleted', async () => {
    const archive = openArchive({ to: temp.dir }, run)
    await archive.add(page(0, 3))
    fs.rmSync(archive.file!)
    await expect(archive.add(page(3, 2))).rejects.toThrow('was deleted, moved or replaced')
    await archive.close()
  })

  it('accepts a page of large events', async () => {
    const archive = openArchive({ to: temp.dir }, run)
    const large = page(0, 12, 'é'.repeat(500_000))
    await archive.add(large)
    await archive.close()
    expect(read(archive.file!)).toEqual(large)
  })

  it('contains no part of a page that could not be written', async () => {
    const archive = openArchive({ to: temp.dir }, run)
    await archive.add(page(0, 3))
    const size = fs.statSync(archive.file!).size
    const full = new Error('ENOSPC: no space left on device')
    vi.spyOn(await handles(), 'sync').mockRejectedValueOnce(full)
    await expect(archive.add(page(3, 3))).rejects.toThrow('no space left')
    expect(fs.statSync(archive.file!).size).toBe(size)
    await archive.add(page(6, 1))
    await archive.close()
    expect(read(archive.file!)).toEqual([...page(0, 3), ...page(6, 1)])
  })
})

describe('a run with an archive', () => {
  it('removes no event that the archive has refused', async () => {
    const pages: number[] = []
    const world = openWorld(memoryStore(), {
      rules: [
        {
          target: 'events',
          maxRows: 0,
          async archive(events) {
            if (pages.length === 1) throw new Error('the archive is full')
            pages.push(events.length)
          },
        },
      ],
    })
    for (let n = 0; n < 500; n++) void world.audit.recordCustom('n', { n })
    await world.audit.flush()
    expect(await world.cleaning.run()).toMatchObject([
      { removed_count: 200, archived_count: 200, error: 'the archive is full' },
    ])
    expect((await world.all()).filter(({ type }) => type === 'n')).toHaveLength(300)
    expect(await world.cleaningEvents()).toMatchObject([
      {
        type: 'error:data_cleanup:events',
        attributes: { error: 'the archive is full', removed_count: 200, archived_count: 200 },
      },
    ])
    await world.close()
  })

  it('removes no event of the page during which it is aborted', async () => {
    const abort = new AbortController()
    const world = openWorld(memoryStore(), {
      rules: [{ target: 'events', maxRows: 0, archive: temp.file('archive') }],
    })
    for (let n = 0; n < 3; n++) await world.audit.recordCustom('n', { n })
    const stored = await world.all()
    vi.spyOn(await handles(), 'sync').mockImplementation(async () => abort.abort())
    await expect(world.cleaning.run({ signal: abort.signal })).rejects.toMatchObject({
      code: 'ABORTED',
    })
    expect(await world.all()).toEqual(stored)
    const [name] = fs.readdirSync(temp.file('archive'))
    expect(read(temp.file(`archive/${name}`))).toEqual(stored)
    await world.close()
  })

  it('removes nothing if the directory cannot be created', async () => {
    fs.writeFileSync(temp.file('a file'), '')
    const archive = temp.file('a file/archive')
    const world = openWorld(memoryStore(), { rules: [{ target: 'events', maxRows: 0, archive }] })
    await world.audit.recordCustom('test')
    const [result] = await world.cleaning.run()
    expect(result).toMatchObject({ removed_count: 0, error: expect.stringContaining('ENOTDIR') })
    expect(await world.all()).toMatchObject([
      { type: 'test' },
      { type: 'error:data_cleanup:events' },
    ])
    await world.close()
  })
})
