export type { Render, RenderedText, RenderTools } from './render.js'
export { slack, type SlackOptions } from './slack.js'
export { webhook, type WebhookOptions } from './webhook.js'
