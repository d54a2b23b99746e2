import { expect, it } from 'vitest'
import { requireNode } from '../../../src/store/node-version.js'
import manifest from '../../../package.json' with { type: 'json' }

it('versions of Node older than `engines` are refused', () => {
  expect(manifest.engines.node).toBe('>=20.19')
  for (const version of ['18.20.8', '20.18.3', '20.9.0'])
    expect(() => requireNode(version)).toThrow(
      expect.objectContaining({
        code: 'MISSING_DEPENDENCY',
        message: `Daybook needs Node 20.19 or newer; this is Node ${version}`,
      }),
    )
  for (const version of ['20.19.0', '20.100.0', '22.0.0', '26.10.0', '27.0.0-pre'])
    requireNode(version)
})
