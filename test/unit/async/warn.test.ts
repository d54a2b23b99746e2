import { afterEach, expect, it, vi } from 'vitest'
import { warn, warnThrown } from '../../../src/async/warn.js'

afterEach(() => void vi.restoreAllMocks())

/** The warnings of a process that refuses some warnings. */
function emitted(isRefused: (warning: unknown) => boolean): unknown[] {
  const warnings: unknown[] = []
  vi.spyOn(process, 'emitWarning').mockImplementation((warning) => {
    if (isRefused(warning)) throw new TypeError('refused')
    warnings.push(warning)
  })
  return warnings
}

it('a process that refuses texts gets an error with an own property `name`', () => {
  const warnings = emitted((warning) => typeof warning === 'string')
  warn('the journal is full')
  expect(warnings).toMatchObject([{ name: 'Warning', message: 'the journal is full' }])
  expect(Object.hasOwn(warnings[0] as object, 'name')).toBe(true)
})

it('a process that refuses errors gets texts, and a process that refuses both gets nothing', () => {
  const warnings = emitted((warning) => typeof warning !== 'string')
  warnThrown(new Error('from a listener'))
  expect(warnings).toEqual([expect.stringContaining('from a listener')])
  emitted(() => true)
  expect(() => warn('lost')).not.toThrow()
  expect(() => warnThrown(undefined)).not.toThrow()
})
