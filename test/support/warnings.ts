import { onTestFinished, vi } from 'vitest'

/** Collects the warnings of the process instead of printing them, until the test ends. */
export function takeWarnings(): unknown[] {
  const warnings: unknown[] = []
  const spy = vi.spyOn(process, 'emitWarning').mockImplementation((warning) => {
    warnings.push(warning)
  })
  onTestFinished(() => spy.mockRestore())
  return warnings
}
