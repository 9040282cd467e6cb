import type { INamespace } from 'protobufjs/light.js';

/**
 * The messages of opentelemetry-proto 1.9 that a trace is made of (common.proto, resource.proto, trace.proto, trace_service.proto;
 * Copyright The OpenTelemetry Authors, Apache License 2.0), reduced to the fields that are read; a decoder skips the others.
 *
 * One thing is different on purpose: the lists of resource spans, scope spans and spans are declared as bytes, which is how
 * protobuf writes embedded messages. So each is decoded by itself: one that is broken costs no other, and only one span at a time
 * is in memory.
 */
export const traceMessages: INamespace = {
  nested: {
    ExportTraceServiceRequest: { fields: { resourceSpans: { id: 1, rule: 'repeated', type: 'bytes' } } },
    ResourceSpans: {
      fields: { resource: { id: 1, type: 'Resource' }, scopeSpans: { id: 2, rule: 'repeated', type: 'bytes' } },
    },
    ScopeSpans: {
      fields: { scope: { id: 1, type: 'InstrumentationScope' }, spans: { id: 2, rule: 'repeated', type: 'bytes' } },
    },
    Resource: { fields: { attributes: { id: 1, rule: 'repeated', type: 'KeyValue' } } },
    InstrumentationScope: {
      fields: {
        name: { id: 1, type: 'string' },
        version: { id: 2, type: 'string' },
        attributes: { id: 3, rule: 'repeated', type: 'KeyValue' },
      },
    },
    Span: {
      fields: {
        traceId: { id: 1, type: 'bytes' },
        spanId: { id: 2, type: 'bytes' },
        parentSpanId: { id: 4, type: 'bytes' },
        name: { id: 5, type: 'string' },
        kind: { id: 6, type: 'int32' },
        startTimeUnixNano: { id: 7, type: 'fixed64' },
        endTimeUnixNano: { id: 8, type: 'fixed64' },
        attributes: { id: 9, rule: 'repeated', type: 'KeyValue' },
        events: { id: 11, rule: 'repeated', type: 'Event' },
        status: { id: 15, type: 'Status' },
        flags: { id: 16, type: 'fixed32' },
      },
      nested: {
        Event: {
          fields: {
            timeUnixNano: { id: 1, type: 'fixed64' },
            name: { id: 2, type: 'string' },
            attributes: { id: 3, rule: 'repeated', type: 'KeyValue' },
          },
        },
      },
    },
    Status: { fields: { message: { id: 2, type: 'string' }, code: { id: 3, type: 'int32' } } },
    KeyValue: { fields: { key: { id: 1, type: 'string' }, value: { id: 2, type: 'AnyValue' } } },
    KeyValueList: { fields: { values: { id: 1, rule: 'repeated', type: 'KeyValue' } } },
    ArrayValue: { fields: { values: { id: 1, rule: 'repeated', type: 'AnyValue' } } },
    AnyValue: {
      oneofs: {
        value: {
          oneof: ['stringValue', 'boolValue', 'intValue', 'doubleValue', 'arrayValue', 'kvlistValue', 'bytesValue'],
        },
      },
      fields: {
        stringValue: { id: 1, type: 'string' },
        boolValue: { id: 2, type: 'bool' },
        intValue: { id: 3, type: 'int64' },
        doubleValue: { id: 4, type: 'double' },
        arrayValue: { id: 5, type: 'ArrayValue' },
        kvlistValue: { id: 6, type: 'KeyValueList' },
        bytesValue: { id: 7, type: 'bytes' },
      },
    },
  },
};
