#version 450
// Lighting, once per pixel: sun and point lights (GGX), one soft shadow, a room's indirect light and
// reflections in closed form (no table to compute at start), ambient occlusion, tone mapping.

layout(constant_id = 0) const int NUM_DIRECTIONAL_LIGHTS = 0;
layout(constant_id = 1) const int NUM_DIRECTIONAL_LIGHT_SHADOWS = 0;
layout(constant_id = 2) const int NUM_POINT_LIGHTS = 0;
layout(constant_id = 3) const int NUM_POINT_LIGHT_SHADOWS = 0;
layout(constant_id = 4) const int NUM_SPOT_LIGHTS = 0;
layout(constant_id = 5) const int NUM_SPOT_LIGHT_SHADOWS = 0;
layout(constant_id = 6) const int NUM_TEXTURED_LIGHT_SHADOWS = 0;

#include "camera.glsl"
#define SCENE_SET 1
#include "scene.glsl"

layout(set = 2, binding = 0) uniform sampler2D samplerAlbedo;
layout(set = 2, binding = 1) uniform sampler2D samplerNormal;
layout(set = 2, binding = 2) uniform sampler2D samplerPosition;

// rgb: display colour (sRGB); a: its luma
layout(location = 0) out vec4 outLighting;

#include "room.glsl"

const float PI = 3.14159265;
const float SHADOW_BIAS = 0.004;  // m along the surface normal
const float OCCLUSION_RADIUS = 0.09;  // m
const int OCCLUSION_SAMPLES = 6;

struct Surface {
  vec3 position;  // world
  vec3 normal;  // world
  vec3 view;  // unit, towards the camera
  vec3 diffuse;
  vec3 specular;  // reflectance at normal incidence
  float roughness;
};

// Lambert and GGX, times the cosine of the incidence.
vec3 reflected(Surface s, vec3 light) {
  float cosine = dot(s.normal, light);
  if (cosine <= 0.0) {
    return vec3(0.0);
  }
  vec3 halfway = normalize(light + s.view);
  float nh = max(dot(s.normal, halfway), 0.0);
  float nv = max(dot(s.normal, s.view), 1e-3);
  float vh = max(dot(s.view, halfway), 0.0);
  float a = max(s.roughness * s.roughness, 0.02);
  float bell = nh * nh * (a * a - 1.0) + 1.0;
  float lobe = a * a / (PI * bell * bell);
  float masking = 0.25 / mix(2.0 * cosine * nv, cosine + nv, a) * 2.0;
  float grazing = 1.0 - vh;
  float fifth = grazing * grazing * grazing * grazing * grazing;
  vec3 fresnel = s.specular + (1.0 - s.specular) * fifth;
  return (s.diffuse / PI + fresnel * min(lobe * masking, 24.0)) * cosine;
}

// Visible fraction of the shadow-casting light, over about 4x4 texels.
float sunVisibility(vec3 position, vec3 normal) {
  LightBuffer light = shadowBuffer.directionalLightBuffers[0];
  vec4 inLight = light.viewMatrix * vec4(position + normal * SHADOW_BIAS, 1.0);
  vec4 clip = light.projectionMatrix * inLight;
  vec3 at = clip.xyz / clip.w;
  vec2 uv = at.xy * 0.5 + 0.5;
  if (any(lessThan(uv, vec2(0.01))) || any(greaterThan(uv, vec2(0.99))) || at.z > 1.0) {
    return 1.0;
  }
  float size = float(light.width);
  vec2 texel = uv * size - 0.5;
  vec2 f = fract(texel);
  vec2 base = (floor(texel) + 0.5) / size;
  float lit = 0.0;
  // Each gather covers 2x2 texels; four of them a 4x4 block, weighted as a moving 3x3 box.
  for (int y = 0; y < 2; ++y) {
    for (int x = 0; x < 2; ++x) {
      vec2 corner = base + (vec2(x, y) * 2.0 - 0.5) / size;
      vec4 depths = textureGather(samplerDirectionalLightDepths[0], corner);
      vec4 open = step(vec4(at.z), depths);  // (0,1) (1,1) (1,0) (0,0)
      vec2 low = x == 0 ? vec2(1.0 - f.x, 1.0) : vec2(1.0, f.x);
      vec2 high = y == 0 ? vec2(1.0 - f.y, 1.0) : vec2(1.0, f.y);
      lit += high.y * (low.x * open.x + low.y * open.y) + high.x * (low.y * open.z + low.x * open.w);
    }
  }
  return lit / 9.0;
}

// Visible fraction of the indirect light (ambient occlusion). Samples lie on a
// spiral, rotated by an eighth from pixel to pixel in blocks of 2x2. Points are in the camera frame.
float openness(ivec2 pixel, vec3 position, vec3 normal) {
  float reach = 0.5 * cameraBuffer.height * cameraBuffer.projectionMatrix[1][1];
  float radius = abs(reach * OCCLUSION_RADIUS / position.z);
  if (radius < 1.5) {
    return 1.0;
  }
  radius = min(radius, 0.2 * cameraBuffer.height);
  ivec2 last = ivec2(cameraBuffer.width, cameraBuffer.height) - 1;
  float turn = float((pixel.x & 1) * 2 + (pixel.y & 1)) * (PI / 4.0);
  float occlusion = 0.0;
  for (int i = 0; i < OCCLUSION_SAMPLES; ++i) {
    float along = (float(i) + 0.5) / float(OCCLUSION_SAMPLES);
    float angle = float(i) * 2.39996 + turn;
    ivec2 there = pixel + ivec2(round(vec2(cos(angle), sin(angle)) * radius * along));
    vec4 other = texelFetch(samplerPosition, clamp(there, ivec2(0), last), 0);
    vec3 offset = other.xyz - position;
    float square = dot(offset, offset);
    float near = max(1.0 - square / (OCCLUSION_RADIUS * OCCLUSION_RADIUS), 0.0);
    float rise = dot(offset, normal) - 0.005 * abs(position.z);
    occlusion += other.w > 0.0 ? near * max(rise, 0.0) * inversesqrt(square + 1e-6) : 0.0;
  }
  return clamp(1.0 - 2.2 * occlusion / float(OCCLUSION_SAMPLES), 0.0, 1.0);
}

// Reflectance of a rough surface under even light, a polynomial fit (Karis 2014).
vec3 evenReflectance(vec3 specular, float roughness, float nv) {
  vec4 r = roughness * vec4(-1.0, -0.0275, -0.572, 0.022) + vec4(1.0, 0.0425, 1.04, -0.04);
  float a = min(r.x * r.x, exp2(-9.28 * nv)) * r.x + r.y;
  vec2 scale = vec2(-1.04, 1.04) * a + r.zw;
  return specular * scale.x + scale.y;
}

// Filmic curve (Narkowicz 2015), then the display's gamma.
vec3 display(vec3 color) {
  vec3 mapped = (color * (2.51 * color + 0.03)) / (color * (2.43 * color + 0.59) + 0.14);
  return pow(clamp(mapped, 0.0, 1.0), vec3(1.0 / 2.2));
}

void main() {
  ivec2 pixel = ivec2(gl_FragCoord.xy);
  vec4 position = texelFetch(samplerPosition, pixel, 0);
  vec3 color;
  if (position.w == 0.0) {
    vec2 ndc = gl_FragCoord.xy / vec2(cameraBuffer.width, cameraBuffer.height) * 2.0 - 1.0;
    vec4 far = cameraBuffer.projectionMatrixInverse * vec4(ndc, 1.0, 1.0);
    vec3 ray = normalize(mat3(cameraBuffer.viewMatrixInverse) * (far.xyz / far.w));
    color = roomLight(ray, 1.0) * 1.2;
  } else {
    vec4 albedo = texelFetch(samplerAlbedo, pixel, 0);
    vec4 normal = texelFetch(samplerNormal, pixel, 0);
    Surface s;
    s.position = (cameraBuffer.viewMatrixInverse * vec4(position.xyz, 1.0)).xyz;
    s.normal = normalize(normal.xyz);
    s.view = normalize(cameraBuffer.viewMatrixInverse[3].xyz - s.position);
    s.roughness = clamp(albedo.a, 0.05, 1.0);
    s.diffuse = albedo.rgb * (1.0 - normal.w);
    s.specular = mix(vec3(0.04), albedo.rgb, normal.w);

    float open = openness(pixel, position.xyz, mat3(cameraBuffer.viewMatrix) * s.normal);
    float nv = max(dot(s.normal, s.view), 1e-3);
    vec3 mirrored = reflect(-s.view, s.normal);
    color = s.diffuse * roomLight(s.normal, 1.0) * open;
    color += evenReflectance(s.specular, s.roughness, nv) * roomLight(mirrored, s.roughness) *
             mix(1.0, open, 0.7);
    for (int i = 0; i < NUM_DIRECTIONAL_LIGHTS; ++i) {
      DirectionalLight light = sceneBuffer.directionalLights[i];
      float visible = i < NUM_DIRECTIONAL_LIGHT_SHADOWS ? sunVisibility(s.position, s.normal) : 1.0;
      color += visible * light.emission.rgb * reflected(s, -normalize(light.direction.xyz));
    }
    for (int i = 0; i < NUM_POINT_LIGHTS; ++i) {
      vec3 offset = sceneBuffer.pointLights[i].position.xyz - s.position;
      float square = max(dot(offset, offset), 1e-4);
      color += sceneBuffer.pointLights[i].emission.rgb / square *
               reflected(s, offset * inversesqrt(square));
    }
  }
  color = display(color);
  outLighting = vec4(color, dot(color, vec3(0.299, 0.587, 0.114)));
}
