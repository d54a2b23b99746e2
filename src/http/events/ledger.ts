import { untilAborted } from '../../errors.js'
import { shortText } from '../../describing/visible-text.js'
import type { AuditEvent } from '../../event/event.js'
import { serversOnly } from '../../event/servers-only.js'
import { noLedger } from '../../store/ledger-errors.js'
import type { WaitOptions } from '../../store/store.js'
import type { HttpResponse } from '../exchange.js'
import { CACHE_HEADERS, checkAccept, jsonResponse } from '../media.js'
import { refuseParameters } from '../parameters.js'
import { HttpProblem, jsonapi } from '../problem.js'
import type { EndpointAudit, EventsCall, EventsHandler } from './handler.js'

/* The endpoints of the ledger. `endpoint.ts` refuses users who see only a part of the log. */

const TEXT = 'text/plain'

/** Longest text about the error of an anchor. Such an error is the host's, and may name addresses. */
const MAX_ERROR = 200

/** Time within which clients get the same head: each head may need a signature. */
const HEAD_MS = 1000

const VERIFICATIONS =
  'filter[type_in][]=info:audit_log:verification&filter[type_in][]=error:audit_log:verification&filter[system_true]=1&limit=1'

type LedgerAudit = Pick<EndpointAudit, 'ledger' | 'list'>

/** The verifier key. Throws `NO_LEDGER`. */
function requireKey({ vkey }: LedgerAudit['ledger']): string {
  if (vkey === undefined) throw noLedger()
  return vkey
}

function checkRequest({ request }: EventsCall, mediaType?: string): void {
  checkAccept(request.header('accept'), mediaType)
  refuseParameters(request.query)
}

const textResponse = (body: string, headers: HttpResponse['headers'] = {}): HttpResponse => ({
  status: 200,
  headers: { 'content-type': `${TEXT}; charset=utf-8`, ...CACHE_HEADERS, ...headers },
  body,
})

/** Returns the head. Clients that ask within a second share one. */
function createHeads(ledger: LedgerAudit['ledger']): () => Promise<string> {
  let head: Promise<string> | undefined
  let end = Infinity
  return () => {
    if (head && performance.now() < end) return head
    const next = ledger.checkpoint()
    head = next
    end = Infinity
    next.then(
      () => (end = performance.now() + HEAD_MS),
      () => (head = undefined),
    )
    return next
  }
}

/** `GET <path>/checkpoint`: the signed head. */
function checkpointHandler({ ledger }: LedgerAudit): EventsHandler {
  const currentHead = createHeads(ledger)
  return async (call) => {
    checkRequest(call, TEXT)
    requireKey(ledger)
    await call.reportRead([])
    return textResponse(await untilAborted(currentHead(), call.request.signal))
  }
}

/** `GET <path>/<id>/proof`: the proof of an event, as a file. */
const proofHandler =
  ({ ledger }: LedgerAudit): EventsHandler =>
  async (call) => {
    const { id, request, reportRead, source } = call
    checkRequest(call, TEXT)
    requireKey(ledger)
    const item = await source().read(id)
    const proof = item && (await ledger.prove(id, { signal: request.signal }))
    if (proof === undefined)
      throw new HttpProblem('NOT_FOUND', `there is no event ${JSON.stringify(id)}`)
    await reportRead([item!])
    const name = `event-${item!.event.id}.tlog-proof`
    return textResponse(proof, { 'content-disposition': `attachment; filename="${name}"` })
  }

const verificationOf = ({ created_at, attributes }: AuditEvent): object => {
  const { result, size, proved_size, event_count, finding_count } = attributes
  return { at: created_at, result, size, proved_size, event_count, finding_count }
}

async function readLedger(audit: LedgerAudit, vkey: string, options: WaitOptions) {
  const { state, size, sealedUntil, waiting, waitingSince, anchors } =
    await audit.ledger.status(options)
  const [last] = (await audit.list(VERIFICATIONS, options)).events
  const origin = vkey.slice(0, vkey.indexOf('+'))
  const attributes = {
    state,
    size,
    sealed_until: sealedUntil ?? null,
    waiting,
    waiting_since: waitingSince ?? null,
    origin,
    vkey,
    verification: last ? verificationOf(last) : null,
    anchors: anchors.map(({ name, size, at, error }) => ({
      name,
      size,
      at: at ?? null,
      ...(error !== undefined && { error: shortText(serversOnly(error), MAX_ERROR) }),
    })),
  }
  return { type: 'ledger', id: origin, attributes }
}

/** `GET <path>/ledger`: the condition of the ledger. */
const statusHandler =
  (audit: LedgerAudit): EventsHandler =>
  async (call) => {
    checkRequest(call)
    const vkey = requireKey(audit.ledger)
    await call.reportRead([])
    const { signal } = call.request
    const data = await readLedger(audit, vkey, { signal })
    const links = { self: call.source().link('/ledger', '') }
    return jsonResponse(200, JSON.stringify({ jsonapi, data, links }))
  }

/** The handlers of the endpoints of the ledger, by action. */
export const ledgerHandlers = (audit: LedgerAudit) => ({
  checkpoint: checkpointHandler(audit),
  proof: proofHandler(audit),
  ledger: statusHandler(audit),
})
