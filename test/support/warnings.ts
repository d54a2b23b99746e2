import { onTestFinished, vi } from 'vitest'

/** The warnings of the process, which are not printed for as long. */
export function takeWarnings(): unknown[] {
  const warnings: unknown[] = []
  const spy = vi.spyOn(process, 'emitWarning').mockImplementation((warning) => {
    warnings.push(warning)
  })
  onTestFinished(() => spy.mockRestore())
  return warnings
}
