import { DeliveryError, type DeliveryFault } from '../../src/subscriptions/channel.js'

/** The parts of nodemailer's errors that are used here. */
interface MailError {
  readonly code?: string
  readonly responseCode?: number
  readonly command?: string
}

/** Faults without a response of the server, by the codes of nodemailer; all others are `smtp`. */
const FAULTS: Readonly<Record<string, DeliveryFault>> = {
  ECONNECTION: 'network',
  EDNS: 'network',
  ESOCKET: 'network',
  ETIMEDOUT: 'timeout',
}

/**
 * The error of a `sendMail` that failed. It is permanent if the server refuses the text for good, also because of its size. A sender or
 * recipients that are refused concern every message, so later events wait until somebody has changed the server or the channel.
 */
export function mailFault(cause: unknown): DeliveryError {
  if (cause instanceof DeliveryError) return cause
  const error = Object(cause) as MailError
  const { code = '', responseCode } = error
  const kind = responseCode === undefined ? (FAULTS[code] ?? 'smtp') : 'smtp'
  const permanent = code === 'EMESSAGE' && responseCode !== undefined && responseCode >= 500
  return new DeliveryError(kind, describe(error), { permanent, cause })
}

// Not the message of nodemailer: it repeats the server's text, which may be anything.
function describe({ code, responseCode, command }: MailError): string {
  if (responseCode === undefined) return `the e-mail could not be sent: ${code ?? 'unknown error'}`
  return `the mail server responded with ${responseCode}${command === undefined ? '' : ` to ${command}`}`
}
