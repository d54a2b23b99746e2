import { EventEmitter } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { context, type Span, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { BasicTracerProvider } from '@opentelemetry/sdk-trace-base'
import { AuditLog, bindActor, type JsonObject, withActor } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { beforeEach, expect, it, onTestFinished } from 'vitest'
import { LateActor, withRequest } from '../../../src/recording/actor.js'

const idsOf = (span: Span): JsonObject => {
  const { traceId, spanId } = span.spanContext()
  return { trace_id: traceId, span_id: spanId }
}

let audit: AuditLog
const attributes = async (): Promise<JsonObject[]> =>
  (await audit.list()).events.map((event) => event.attributes)

beforeEach(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  const provider = new BasicTracerProvider()
  trace.setGlobalTracerProvider(provider)
  audit = new AuditLog({ store: memoryStore(), types: {} })
  onTestFinished(async () => {
    await audit.close()
    context.disable()
    trace.disable()
    await provider.shutdown()
  })
})

const tracer = () => trace.getTracer('test')

it('events have the ids of the active span, also after await and in callbacks', async () => {
  const spans: Span[] = []
  await tracer().startActiveSpan('outer', async (outer) => {
    await audit.recordSystem('a')
    await tracer().startActiveSpan('inner', async (inner) => {
      spans.push(outer, inner)
      await delay(1)
      await audit.recordSystem('b')
    })
    const emitter = new EventEmitter()
    const recorded = new Promise((resolve) => {
      emitter.once('done', () => resolve(audit.recordCustom('c')))
    })
    setTimeout(() => emitter.emit('done'), 1)
    await recorded
  })
  await audit.recordSystem('d')
  const [outer, inner] = spans.map(idsOf)
  expect(inner!['trace_id']).toBe(outer!['trace_id'])
  expect(await attributes()).toEqual([outer, inner, outer, {}])
})

it('the active span takes precedence over the header of the request, and ids of the call take precedence over both', async () => {
  const header = { trace_id: 'a'.repeat(32), span_id: 'b'.repeat(16) }
  class Ann extends LateActor {
    override read = () => ({ actor: { username: 'ann' }, attributes: undefined })
  }
  let span: Span | undefined
  let bound = async (): Promise<unknown> => undefined
  await withRequest(new Ann(), { request_id: 'r1', trace: header }, async () => {
    await audit.recordSystem('a')
    await tracer().startActiveSpan('span', async (active) => {
      span = active
      await withActor('bob', () => audit.recordSystem('b'))
      await audit.recordSystem('c', { trace_id: 'mine', request_id: null })
    })
    bound = bindActor(() => audit.recordSystem('d'))
  })
  await bound()
  const ids = idsOf(span!)
  expect(await attributes()).toEqual([
    { request_id: 'r1', ...header },
    { request_id: 'r1', ...ids },
    { request_id: null, trace_id: 'mine', span_id: ids['span_id'] },
    { request_id: 'r1', ...header },
  ])
})

it('a span without valid ids adds no ids', async () => {
  const invalid = trace.wrapSpanContext({
    traceId: '0'.repeat(32),
    spanId: '0'.repeat(16),
    traceFlags: 0,
  })
  await context.with(trace.setSpan(context.active(), invalid), () => audit.recordSystem('a'))
  expect(await attributes()).toEqual([{}])
})
