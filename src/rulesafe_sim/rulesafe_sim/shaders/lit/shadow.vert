#version 450
// Depth seen from the light. The vertex inputs are those of gbuffer.vert.

layout(set = 0, binding = 0) uniform LightBuffer {
  mat4 viewMatrix;
  mat4 viewMatrixInverse;
  mat4 projectionMatrix;
  mat4 projectionMatrixInverse;
  int width;
  int height;
} lightBuffer;

#define OBJECT_SET 1
#include "object.glsl"

layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec2 uv;

void main() {
  vec4 inWorld = objectTransformBuffer.modelMatrix * vec4(position, 1.0);
  gl_Position = lightBuffer.projectionMatrix * (lightBuffer.viewMatrix * inWorld);
}
