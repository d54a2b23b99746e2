import { describe, expect, it } from 'vitest'
import { foldFrames, frameLines, reasonText } from '../../../../adapters/page/panel/stack-frames.js'

const STACK = [
  'Error: connect timed out',
  'after 30 s',
  '    at connect (/srv/app/actions/warm.ts:41:29)',
  '    at next (/srv/app/node_modules/koa/lib/application.js:1:1)',
  '    at process.processTicksAndRejections (node:internal/process/task_queues:105:5)',
  '    at async Promise.all (index 0)',
  '    at run (/srv/app/lib/step.ts:112:5)',
].join('\n')

describe('frameLines', () => {
  it('returns the frames of a stack without the message above them', () => {
    expect(frameLines(STACK)).toHaveLength(5)
    expect(frameLines(STACK)[0]).toBe('connect (/srv/app/actions/warm.ts:41:29)')
  })

  it('accepts a list, and frames of other languages', () => {
    const lines = ["actions/warm_cache.rb:41:in 'connect'", "lib/step.rb:112:in 'run'"]
    expect(frameLines(lines)).toEqual(lines)
  })

  it('returns no lines for other values', () => {
    expect(frameLines(undefined)).toEqual([])
    expect(frameLines(7)).toEqual([])
    expect(frameLines({ a: 1 })).toEqual([])
  })

  it('shows elements that are not strings as JSON', () => {
    expect(frameLines([{ line: 1 }, null])).toEqual(['{"line":1}', 'null'])
  })
})

describe('foldFrames', () => {
  it('keeps own frames and counts consecutive library frames', () => {
    expect(foldFrames(frameLines(STACK))).toEqual([
      { text: 'connect (/srv/app/actions/warm.ts:41:29)' },
      { libraries: 3 },
      { text: 'run (/srv/app/lib/step.ts:112:5)' },
    ])
  })

  it.each([
    '/usr/lib/ruby/gems/3.3/rack.rb:1',
    String.raw`C:\app\node_modules\koa\index.js:1:1`,
    '<internal:kernel>:187',
    'new Promise (<anonymous>)',
  ])('takes %s for a library', (line) => {
    expect(foldFrames([line])).toEqual([{ libraries: 1 }])
  })
})

describe('reasonText', () => {
  it.each([
    ['a text', 'no route to host', 'no route to host'],
    ['an object with a message', { message: 'no route', code: 1 }, 'no route'],
    ['another object', { code: 1 }, '{"code":1}'],
    ['nothing', undefined, undefined],
    ['null', null, undefined],
    ['an empty text', '', undefined],
    ['false', false, 'false'],
  ])('reads %s', (_, error, reason) => {
    expect(reasonText(error)).toBe(reason)
  })
})
