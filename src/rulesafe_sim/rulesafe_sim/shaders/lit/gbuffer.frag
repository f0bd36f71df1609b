#version 450
// Geometry pass: surface properties per pixel; deferred.frag lights them. Of a mesh's textures only
// the colour is used.

#include "camera.glsl"
#define OBJECT_SET 1
#include "object.glsl"

layout(set = 2, binding = 0) uniform MaterialBuffer {
  vec4 emission;
  vec4 baseColor;
  float fresnel;
  float roughness;
  float metallic;
  float transmission;
  float ior;
  float transmissionRoughness;
  int textureMask;
  int padding1;
  vec4 textureTransforms[6];
} materialBuffer;

layout(set = 2, binding = 1) uniform sampler2D colorTexture;
layout(set = 2, binding = 2) uniform sampler2D roughnessTexture;
layout(set = 2, binding = 3) uniform sampler2D normalTexture;
layout(set = 2, binding = 4) uniform sampler2D metallicTexture;
layout(set = 2, binding = 5) uniform sampler2D emissionTexture;
layout(set = 2, binding = 6) uniform sampler2D transmissionTexture;

layout(location = 0) in vec3 cameraPosition;
layout(location = 1) in vec3 worldNormal;
layout(location = 2) in vec2 texturePosition;

// rgb: colour; a: roughness
layout(location = 0) out vec4 outAlbedo;
// xyz: world normal towards the camera; w: metallic
layout(location = 1) out vec4 outNormal;
// xyz: camera frame (x right, y up, z back), m; w: the entity's id in its scene, 0 = nothing
layout(location = 2) out vec4 outPosition;

void main() {
  vec4 color = materialBuffer.baseColor;
  if ((materialBuffer.textureMask & 1) != 0) {
    vec4 at = materialBuffer.textureTransforms[0];
    color = texture(colorTexture, texturePosition * at.zw + at.xy);
  }
  if (color.a * (1.0 - objectDataBuffer.transparency) < 0.5) {
    discard;
  }
  mat3 cameraToWorld = mat3(cameraBuffer.viewMatrixInverse);
  vec3 normal = normalize(worldNormal);
  outAlbedo = vec4(color.rgb + materialBuffer.emission.rgb, materialBuffer.roughness);
  outNormal = vec4(faceforward(normal, cameraToWorld * cameraPosition, normal),
                   materialBuffer.metallic);
  outPosition = vec4(cameraPosition, float(objectDataBuffer.segmentation.y));
}
