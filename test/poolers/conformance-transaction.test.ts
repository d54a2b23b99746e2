import { describePooledStore } from './conformance.js'

describePooledStore('transaction')
