import { expect, it, vi } from 'vitest'
import { namedLogs } from '../../../src/logs/named-logs.js'

it('logs are opened only when they are read, because thousands of open logs would take gigabytes', async () => {
  const keys = Array.from({ length: 2500 }, (_, i) => `log ${String(i).padStart(4, '0')}`)
  const get = vi.fn((key: string) => key as never)
  const stores = {
    keys: ({ after = '', limit }: { after?: string | undefined; limit: number }) =>
      Promise.resolve(keys.filter((key) => key > after).slice(0, limit)),
    has: () => Promise.resolve(true),
  }
  const named = await namedLogs({ stores, get, links: [] }, {})
  expect(named.map(({ key }) => key)).toEqual(keys)
  expect(get).not.toHaveBeenCalled()
  expect(named[7]!.log()).toBe(keys[7])
})
