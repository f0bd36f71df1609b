#version 450
// Geometry pass: camera-frame position, world-frame normal, texture coordinates.

#include "camera.glsl"
#define OBJECT_SET 1
#include "object.glsl"

layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec2 uv;

layout(location = 0) out vec3 cameraPosition;
layout(location = 1) out vec3 worldNormal;
layout(location = 2) out vec2 texturePosition;

void main() {
  mat4 model = objectTransformBuffer.modelMatrix;
  // Inverse transpose of a rotation with scales: divide by the squared length of each column.
  mat3 axes = mat3(model);
  vec3 squares = vec3(dot(axes[0], axes[0]), dot(axes[1], axes[1]), dot(axes[2], axes[2]));
  worldNormal = axes * (normal / max(squares, vec3(1e-12)));
  vec4 inCamera = cameraBuffer.viewMatrix * (model * vec4(position, 1.0));
  cameraPosition = inCamera.xyz;
  texturePosition = uv;
  gl_Position = cameraBuffer.projectionMatrix * inCamera;
}
